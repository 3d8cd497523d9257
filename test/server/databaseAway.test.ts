import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type Answer, send } from '../rules/support/call.ts';
import { newRule, rulesPath } from '../rules/support/samples.ts';
import { Postgres, postgresFolder, WITHOUT_POSTGRES } from '../support/postgres.ts';
import { temporaryFolder } from '../support/smallFileSystem.ts';
import { type Floodgate, startFloodgate, startFloodgateProcess } from '../support/startFloodgate.ts';
import { until } from '../support/until.ts';

/** An address without a listener. */
const NOBODY = '127.0.0.1:9';
const path = rulesPath('a');
const status = '/accounts/a/network/advanced_dns_protection/configs/dns_protection/status';

const api = ({ url }: Pick<Floodgate, 'url'>) => ({ baseUrl: `${url}/client/v4` });
/** Sends a body that is not a call: authentication happens before it is parsed, so an accepted key gets 400. */
const ask = async ({ url }: Pick<Floodgate, 'url'>, token: string | null): Promise<number> => {
  const headers = { 'content-type': 'application/json' };
  return (
    await send({ baseUrl: `${url}/v1` }, { method: 'POST', path: '/mainnet', body: '{}', token, headers })
  ).status;
};
const makeKey = async (server: Floodgate, name: string): Promise<{ id: string; value: string }> =>
  (await send(api(server), { method: 'POST', path: '/gateway/keys', body: { name } })).json.result;
const readyz = async ({ url }: Floodgate): Promise<{ status: number; text: string }> => {
  const answer = await fetch(`${url}/readyz`);
  return { status: answer.status, text: await answer.text() };
};

describe.skipIf(postgresFolder === undefined)(`servers whose database is away${WITHOUT_POSTGRES}`, () => {
  let postgres: Postgres;
  beforeAll(async () => {
    postgres = await Postgres.start();
  });
  afterAll(() => postgres?.remove());

  const guardArgs = ['--dns-account', 'a', '--dns-listen', '127.0.0.1:0', '--dns-servers', NOBODY];
  const optionsOf = (dataDir: string, args: readonly string[] = []) => ({
    dataDir,
    upstream: `http://${NOBODY}`,
    whenListening: true,
    args: ['--rules-store', postgres.url(), ...args],
  });
  const snapshotsOf = (dataDir: string) => ['rules', 'keys'].map((name) => join(dataDir, `${name}.snapshot`));
  const withoutDatabase = async (use: () => Promise<void>): Promise<void> => {
    await postgres.stop();
    try {
      await use();
    } finally {
      await postgres.restart();
    }
  };
  const inForce = async (server: Floodgate): Promise<Answer['json']> =>
    (await send(api(server), { path: status })).json.result?.rule?.mode;

  it('start with the rules and keys that they last knew, say so, and apply changes when it is back', async () => {
    const dataDir = temporaryFolder();
    const first = await startFloodgate(optionsOf(dataDir, guardArgs));
    const made = await send(api(first), { method: 'POST', path, body: { ...newRule, scope: 'global' } });
    expect(made.status, made.text).toBe(200);
    const key = await makeKey(first, 'kept');
    const revoked = await makeKey(first, 'revoked');
    await send(api(first), { method: 'DELETE', path: `/gateway/keys/${revoked.id}` });
    await until('the rule in the snapshot', () => {
      const [rules = ''] = snapshotsOf(dataDir);
      return readFileSync(rules, 'utf8').includes(made.json.result.id);
    });
    await first.stop();
    for (const file of snapshotsOf(dataDir)) {
      expect(statSync(file).mode & 0o777).toBe(0o600);
      for (const { value } of [key, revoked]) expect(readFileSync(file, 'utf8')).not.toContain(value);
      expect(readFileSync(file, 'utf8')).not.toContain('w@rd');
    }
    let server!: Floodgate;
    await withoutDatabase(async () => {
      server = await startFloodgate(optionsOf(dataDir, guardArgs));
      onTestFinished(() => server.stop().then(() => undefined));
      expect(await inForce(server)).toBe(newRule.mode);
      expect((await send(api(server), { path })).headers['floodgate-stale']).toMatch(/^\d+$/);
      expect(await ask(server, key.value)).toBe(400);
      await until('503 for an unknown key', async () => (await ask(server, 'fgk_unknown')) === 503);
      for (const secret of [revoked.value, null]) expect(await ask(server, secret)).toBe(401);
      await until('the outage in /readyz', async () =>
        (await readyz(server)).text.includes('cannot be reached'),
      );
      const metrics = await (await fetch(`${server.url}/metrics`)).text();
      expect(metrics).toContain('floodgate_rules_store_up 0');
      expect(server.output()).toContain('started from a snapshot');
    });
    const changed = { method: 'PATCH', path: `${path}/${made.json.result.id}`, body: { mode: 'disabled' } };
    await until('an accepted change', async () => (await send(api(server), changed)).status === 200);
    await until('the guard to enforce the change', async () => (await inForce(server)) === 'disabled');
    await until('401 for an unknown key', async () => (await ask(server, 'fgk_unknown')) === 401);
    const added = await makeKey(server, 'added');
    expect(await ask(server, added.value)).toBe(400);
  });

  it('never accept a key again that they have rejected as revoked, even after a kill', async () => {
    const dataDir = temporaryFolder();
    const other = await startFloodgate(optionsOf(temporaryFolder()));
    const first = await startFloodgateProcess(optionsOf(dataDir));
    const key = await makeKey(other, 'revoked elsewhere');
    await until('the key', async () => (await ask(first, key.value)) === 400);
    await send(api(other), { method: 'DELETE', path: `/gateway/keys/${key.id}` });
    await until('the revocation', async () => (await ask(first, key.value)) === 401);
    await first.kill();
    await other.stop();
    await withoutDatabase(async () => {
      const again = await startFloodgate(optionsOf(dataDir));
      onTestFinished(() => again.stop().then(() => undefined));
      expect(await ask(again, key.value)).toBe(401);
    });
  });

  it.each(['damaged', 'too old', 'missing'])(
    'reject all requests with 503 until it is back if the snapshot of keys is %s',
    async (what) => {
      const dataDir = temporaryFolder();
      const first = await startFloodgate(optionsOf(dataDir));
      const key = await makeKey(first, what);
      await first.stop();
      const [, file = ''] = snapshotsOf(dataDir);
      const text = readFileSync(file, 'utf8');
      if (what === 'damaged') writeFileSync(file, text.replace(key.id, 'ffffffff'));
      if (what === 'too old') writeFileSync(file, text.replace(/ \d{13}\n/, ' 1795000000000\n'));
      let server!: Floodgate;
      await withoutDatabase(async () => {
        server = await startFloodgate(
          optionsOf(what === 'missing' ? join(temporaryFolder(), 'new') : dataDir),
        );
        onTestFinished(() => server.stop().then(() => undefined));
        for (const secret of [key.value, 'fgk_unknown', null]) expect(await ask(server, secret)).toBe(503);
        const { status: code, text: body } = await readyz(server);
        expect([code, JSON.parse(body).checks.keys]).toEqual([503, expect.stringMatching(/unknown until/)]);
        if (what === 'too old') {
          // The first start must not make the old snapshot valid for the next one.
          await server.stop();
          server = await startFloodgate(optionsOf(dataDir));
          expect(await ask(server, key.value)).toBe(503);
        }
        if (what === 'damaged') expect(server.output()).toMatch(/keys\.snapshot.*the file is damaged/);
        if (what === 'too old') expect(server.output()).toMatch(/the server was down too long/);
      });
      await until('the keys of the database', async () => (await ask(server, key.value)) === 400);
      expect(await ask(server, null)).toBe(401);
    },
  );

  it('wait, if they guard an account without a snapshot, and start when it is back', async () => {
    let starting!: Promise<Floodgate>;
    let hasEnded = false;
    const dataDir = temporaryFolder();
    writeFileSync(join(dataDir, 'rules.snapshot'), 'not a snapshot');
    await withoutDatabase(async () => {
      let attempts = 0;
      const closed = createServer((socket) => {
        attempts++;
        socket.destroy();
      });
      closed.listen(postgres.port, '127.0.0.1');
      starting = startFloodgate(optionsOf(dataDir, ['--role', 'guard', ...guardArgs]));
      const ended = starting.then(
        () => (hasEnded = true),
        () => (hasEnded = true),
      );
      await Promise.race([ended, until('repeated attempts to connect', () => attempts > 3)]);
      expect(hasEnded).toBe(false);
      await new Promise((done) => closed.close(done));
    });
    const server = await starting;
    onTestFinished(() => server.stop().then(() => undefined));
    expect(server.output()).toMatch(/rules\.snapshot.*the file is damaged/);
    expect(server.output()).toContain('waiting for the rules database');
  });
});
