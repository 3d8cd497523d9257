import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Cloudflare from 'cloudflare';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { RulesClient } from '../../src/rules/client/index.ts';
import { call } from './support/call.ts';
import { environmentOf, floodgate } from './support/command.ts';
import { type Form, openPage } from './support/page.ts';
import { newRule, rulesPath } from './support/samples.ts';
import { type RulesServer, startServer, TOKEN } from './support/server.ts';

const ACCOUNT = 'no-id';
const UNKNOWN = '3fa85f64-5717-4562-b3fc-2c963f66afa6';
/** What a variable that is unset, or a value that went wrong, leaves in place of an id. */
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
/** Counts what would be sent. Nothing should come. */
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
  listenerUrl = `http://127.0.0.1:${(listener.address() as AddressInfo).port}/client/v4`; // it listens on a port
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
  /** What the command line's own reader finds wrong ends with this exit code. */
  const WRONG_USAGE = 64;
  const run = (args: readonly string[], env: Record<string, string> = {}) =>
    floodgate(args, { env: { ...environmentOf(server, ACCOUNT), ...env } });

  it.concurrent.each(['', ' ', '*', '../rules', 'undefined', `${UNKNOWN}/`])(
    'rules delete %j is refused and deletes nothing',
    async (id) => {
      const { status, stdout, stderr } = await run(['rules', 'delete', '--', id]);
      expect([status, stdout]).toEqual([WRONG_USAGE, '']);
      expect(stderr).toContain(`value '${id}' is invalid for argument 'id'`);
      expect(stderr).toContain('a UUID such as');
      await expectNothingDeleted();
    },
  );

  it('rules delete of several ids of which one is bad sends nothing at all', async () => {
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

  it('rules delete deletes those that are named, in either case', async () => {
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
  ] as const)('%j with %j is refused, naming what is wrong', async (args, env, named) => {
    const { status, stdout, stderr } = await run(args, { FLOODGATE_DATA_DIR: server.dataDir, ...env });
    expect([status, stdout]).toEqual([WRONG_USAGE, '']);
    expect(stderr).toContain(named);
    expect(stderr).not.toContain('    at ');
    await expectNothingDeleted();
  });

  it('token revoke of several ids of which one is empty revokes none before it is known', async () => {
    const env = { FLOODGATE_DATA_DIR: server.dataDir };
    const { id } = JSON.parse((await run(['token', 'create', '--all-accounts', '--json'], env)).stdout);
    expect((await run(['token', 'revoke', id, ''], env)).status).toBe(WRONG_USAGE);
    expect((await run(['token', 'list'], env)).stdout).toMatch(new RegExp(`${id} +active`));
  });
});

describe('the client library', () => {
  const client = () => new RulesClient({ baseUrl: listenerUrl, token: TOKEN, accountId: ACCOUNT });
  const operations = {
    get: (id: string) => client().get(id),
    update: (id: string) => client().update(id, { mode: 'disabled' }),
    delete: (id: string) => client().delete(id),
    analytics: (id: string) => client().analytics(id),
  };

  for (const [name, send] of Object.entries(operations)) {
    it.each([...BAD_IDS.map((id): [unknown] => [id]), [undefined], [null], [0], [[]], [{}], [[UNKNOWN]]])(
      `${name}(%j) is refused before anything is sent`,
      async (id) => {
        const error = await send(id as string).catch((reason: unknown) => reason); // what untyped callers pass
        expect(error).toMatchObject({
          name: 'InvalidIdError',
          message: expect.stringMatching(/^ruleId is .*; allowed: a UUID such as /),
        });
        expect(requests).toBe(0);
      },
    );
  }

  it('says what came', async () => {
    await expect(client().delete('')).rejects.toThrow('ruleId is ""; allowed');
    await expect(client().delete(undefined as unknown as string)).rejects.toThrow('ruleId is undefined');
  });

  it.each(['', ' ', '..', '../x', 'a/b', 'a'.repeat(33), undefined, null])(
    'an account id %j is refused before there is a client',
    (accountId) => {
      const options = { baseUrl: listenerUrl, token: TOKEN, accountId: accountId as string }; // as untyped callers do
      expect(() => new RulesClient(options)).toThrow(/^accountId is .*; allowed: 1 to 32 letters/);
    },
  );

  it('whatever text comes as an id, nothing but a UUID is sent', () =>
    fc.assert(
      fc.asyncProperty(fc.oneof(fc.string({ unit: 'binary' }), fc.webPath(), fc.uuid()), async (id) => {
        const before = requests;
        await client()
          .delete(id)
          .catch(() => undefined);
        // A server's 500 is not tried again, so one request is one id that went through.
        const isUuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(id);
        expect(requests - before).toBe(isUuid ? 1 : 0);
      }),
    ));
});

describe('the official client', () => {
  it.each(['network', 'magic'] as const)('with an empty id deletes nothing under /%s/', async (family) => {
    const client = new Cloudflare({ apiToken: TOKEN, baseURL: server.baseUrl, maxRetries: 0 });
    // It has no method for these rules, so its users write the path; what it sends keeps the slash.
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

describe('the page to try the interface', () => {
  const withId = ({ path }: Form) => path.includes('{rule_id}');

  it('has forms with an id to fill in', async () => {
    const { forms } = await openPage(server);
    expect(forms.filter(withId)).toHaveLength(6);
    for (const { inputs } of forms.filter(withId)) {
      const box = inputs.find((input) => input['name'] === 'rule_id');
      expect(box).toHaveProperty('required');
      // As browsers read it.
      expect(new RegExp(String(box?.['pattern']), 'v').test(UNKNOWN)).toBe(true);
    }
  });

  it.each(BAD_IDS)('sends nothing where the box of the id holds %j, and says so', async (id) => {
    const page = await openPage(server);
    for (const form of page.forms.filter(withId)) {
      const { sent, answer } = await page.submit(form, { token: TOKEN, account_id: ACCOUNT, rule_id: id });
      expect(sent).toEqual([]);
      expect(answer).toContain(`rule_id is ${JSON.stringify(id)}; allowed: a UUID such as`);
    }
    await expectNothingDeleted();
  });

  it.each(['', ' ', '..', 'a/b'])('sends nothing where the box of the account holds %j', async (account) => {
    const page = await openPage(server);
    for (const form of page.forms.filter(({ path }) => path.includes('{account_id}'))) {
      const fields = { token: TOKEN, account_id: account, rule_id: String(ids[0]) };
      const { sent, answer } = await page.submit(form, fields);
      expect(sent).toEqual([]);
      expect(answer).toContain(`account_id is ${JSON.stringify(account)}; allowed: 1 to 32 letters`);
    }
  });

  it('sends what is right: a deletion of one rule deletes that one', async () => {
    const path = rulesPath('page');
    const { id } = (await call(server, { method: 'POST', path, body: newRule })).json.result;
    await call(server, { method: 'POST', path, body: newRule });
    const page = await openPage(server);
    const form = page.forms.find(
      ({ method, path: template }) =>
        method === 'DELETE' && template.includes('/network/') && template.endsWith('{rule_id}'),
    );
    if (!form) throw new Error('the page has no such form');
    const { sent, answer } = await page.submit(form, { token: TOKEN, account_id: 'page', rule_id: id });
    expect(sent).toEqual([`DELETE ${new URL(server.baseUrl).pathname}${path}/${id}`]);
    expect(answer).toMatch(/^200/);
    expect((await call(server, { path })).json.result).toHaveLength(1);
  });
});
