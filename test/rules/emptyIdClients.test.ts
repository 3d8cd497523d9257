import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Cloudflare from 'cloudflare';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { RulesClient } from '../../src/rules/client/index.ts';
import { call } from './support/call.ts';
import { clientEnvironment, floodgate } from './support/command.ts';
import { newRule, rulesPath } from './support/samples.ts';
import { type RulesServer, startServer, TOKEN } from './support/server.ts';

const ACCOUNT = 'no-id';
const UNKNOWN = '3fa85f64-5717-4562-b3fc-2c963f66afa6';
/** Values that an unset variable or a programming error passes as an id. */
const BAD_IDS = [
  '',
  ' ',
  '*',
  '.',
  '..',
  '../..',
  '../rules',
  '%2F',
  '/',
  '?',
  '#',
  'undefined',
  'null',
  `${UNKNOWN} `,
  `${UNKNOWN}/`,
];

let server: RulesServer;
let ids: string[];
/** Counts requests; none are expected. */
const listener = createServer((_request, response) => {
  requests++;
  response.writeHead(500).end();
});
let requests = 0;
let listenerUrl: string;
beforeAll(async () => {
  server = await startServer();
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  listenerUrl = `http://127.0.0.1:${(listener.address() as AddressInfo).port}/client/v4`; // an address with a port, because it listens on TCP
  ids = [];
  for (const name of ['a', 'b']) {
    const body = { ...newRule, name };
    ids.push((await call(server, { method: 'POST', path: rulesPath(ACCOUNT), body })).json.result.id);
  }
});
afterAll(async () => {
  await server.stop();
  listener.closeAllConnections();
  listener.close();
});
beforeEach(() => {
  requests = 0;
});

async function expectNothingDeleted(): Promise<void> {
  const { result } = (await call(server, { path: rulesPath(ACCOUNT) })).json;
  expect(result.map(({ id }: { id: string }) => id)).toEqual(ids);
}

describe('the command line', () => {
  /** Exit code for invalid arguments. */
  const WRONG_USAGE = 64;
  const run = (args: readonly string[], env: Record<string, string> = {}) =>
    floodgate(args, { env: { ...clientEnvironment(server, ACCOUNT), ...env } });

  it.concurrent.each(['', ' ', '*', '../rules', 'undefined', `${UNKNOWN}/`])(
    'rejects rules delete %j and deletes nothing',
    async (id) => {
      const { status, stdout, stderr } = await run(['rules', 'delete', '--', id]);
      expect([status, stdout]).toEqual([WRONG_USAGE, '']);
      expect(stderr).toContain(`value '${id}' is invalid for argument 'id'`);
      expect(stderr).toContain('a UUID such as');
      await expectNothingDeleted();
    },
  );

  it('sends no request for rules delete if one of several ids is invalid', async () => {
    for (const args of [
      ['rules', 'delete', UNKNOWN, ''],
      ['rules', 'delete', '', UNKNOWN],
      ['rules', 'update', '', '--mode', 'disabled'],
      ['rules', 'delete', '--all', ''],
    ]) {
      const { status, stdout } = await run(args, { FLOODGATE_URL: listenerUrl });
      expect([status, stdout]).toEqual([WRONG_USAGE, '']);
    }
    expect(requests).toBe(0);
  });

  it('deletes the given rules, with ids in lower or upper case', async () => {
    const path = rulesPath('named');
    const made = [];
    for (const name of ['a', 'b', 'c'])
      made.push((await call(server, { method: 'POST', path, body: { ...newRule, name } })).json.result.id);
    const deleted = await run(['rules', 'delete', made[0], made[1].toUpperCase()], {
      FLOODGATE_ACCOUNT: 'named',
    });
    expect(deleted.status, deleted.stderr).toBe(0);
    const { result } = (await call(server, { path })).json;
    expect(result.map(({ id }: { id: string }) => id)).toEqual([made[2]]);
  });

  it.concurrent.each([
    [['rules', 'delete', '--all', '--account', ''], {}, '--account'],
    [['rules', 'delete', '--all', '--account', '../x'], {}, '--account'],
    [['rules', 'delete', '--all'], { FLOODGATE_ACCOUNT: '' }, 'FLOODGATE_ACCOUNT'],
    [['rules', 'delete', '--all', '--url', ''], {}, '--url'],
    [['rules', 'delete', '--all'], { FLOODGATE_URL: '' }, 'FLOODGATE_URL'],
    [['rules', 'delete', '--all', '--token-file', ''], {}, '--token-file'],
    [['rules', 'delete', '--all', '--family', ''], {}, '--family'],
    [['audit', '--rule', ''], {}, '--rule'],
    [['audit', '--account', ''], {}, '--account'],
    [['token', 'revoke', ''], {}, "argument 'id'"],
    [['token', 'revoke', '*'], {}, "argument 'id'"],
    [['token', 'revoke', 'x'.repeat(5000)], {}, "argument 'id'"],
    [['token', 'create', '--account', ''], {}, '--account'],
    [['token', 'create', '--all-accounts', '--permission', ''], {}, '--permission'],
    [['key', 'revoke', ''], {}, "argument 'id'"],
  ] as const)('rejects %j with %j and names the invalid argument', async (args, env, named) => {
    const { status, stdout, stderr } = await run(args, { FLOODGATE_DATA_DIR: server.dataDir, ...env });
    expect([status, stdout]).toEqual([WRONG_USAGE, '']);
    expect(stderr).toContain(named);
    expect(stderr).not.toContain('    at ');
    await expectNothingDeleted();
  });

  it('revokes no token if one of several ids is empty', async () => {
    const env = { FLOODGATE_DATA_DIR: server.dataDir };
    const { id } = JSON.parse((await run(['token', 'create', '--all-accounts', '--json'], env)).stdout);
    expect((await run(['token', 'revoke', id, ''], env)).status).toBe(WRONG_USAGE);
    expect((await run(['token', 'list'], env)).stdout).toMatch(new RegExp(`${id} +active`));
  });
});

describe('the client library', () => {
  const client = () => new RulesClient({ baseUrl: listenerUrl, token: TOKEN, accountId: ACCOUNT });
  const operations = {
    get: (id: string) => client().rules.get(id),
    update: (id: string) => client().rules.update(id, { mode: 'disabled' }),
    delete: (id: string) => client().rules.delete(id),
    analytics: (id: string) => client().analytics(id),
  };

  for (const [name, send] of Object.entries(operations)) {
    it.each([...BAD_IDS.map((id): [unknown] => [id]), [undefined], [null], [0], [[]], [{}], [[UNKNOWN]]])(
      `rejects ${name}(%j) before any request is sent`,
      async (id) => {
        const error = await send(id as string).catch((reason: unknown) => reason); // untyped callers can pass any value
        expect(error).toMatchObject({
          name: 'InvalidIdError',
          message: expect.stringMatching(/^ruleId is .*; allowed: a UUID such as /),
        });
        expect(requests).toBe(0);
      },
    );
  }

  it('names the received value in the error', async () => {
    await expect(client().rules.delete('')).rejects.toThrow('ruleId is ""; allowed');
    await expect(client().zones.delete('')).rejects.toThrow('zonePolicyId is ""; allowed');
    await expect(client().rules.delete(undefined as unknown as string)).rejects.toThrow(
      'ruleId is undefined',
    );
  });

  it.each(['', ' ', '..', '../x', 'a/b', 'a'.repeat(33), undefined, null])(
    'rejects the account id %j in the constructor',
    (accountId) => {
      const options = { baseUrl: listenerUrl, token: TOKEN, accountId: accountId as string }; // untyped callers can pass any value
      expect(() => new RulesClient(options)).toThrow(/^accountId is .*; allowed: 1 to 32 letters/);
    },
  );

  it('sends a request only for ids that are UUIDs', () =>
    fc.assert(
      fc.asyncProperty(fc.oneof(fc.string({ unit: 'binary' }), fc.webPath(), fc.uuid()), async (id) => {
        const before = requests;
        await client()
          .rules.delete(id)
          .catch(() => undefined);
        // A 500 is not retried, so each request counts one accepted id.
        const isUuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(id);
        expect(requests - before).toBe(isUuid ? 1 : 0);
      }),
    ));
});

describe("Cloudflare's official client", () => {
  it.each(['network', 'magic'] as const)('deletes nothing with an empty id under /%s/', async (family) => {
    const client = new Cloudflare({ apiToken: TOKEN, baseURL: server.baseUrl, maxRetries: 0 });
    // The client has no method for these rules, so its users pass a path. The client keeps the trailing slash.
    for (const id of ['', ' ', '/', encodeURIComponent('../rules')])
      await expect(client.delete(`${rulesPath(ACCOUNT, family)}/${id}`)).rejects.toBeInstanceOf(
        Cloudflare.NotFoundError,
      );
    await expect(
      client.delete(rulesPath(ACCOUNT, family), { headers: { 'if-match': '"x"' } }),
    ).rejects.toMatchObject({ status: 412 });
    await expectNothingDeleted();
  });
});
