import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { Postgres, postgresFolder, WITHOUT_POSTGRES } from '../support/postgres.ts';
import { until } from '../support/until.ts';
import { call } from './support/call.ts';
import { floodgate } from './support/command.ts';
import { newRule, rulesPath } from './support/samples.ts';
import { type RulesServer, startServer } from './support/server.ts';

const path = rulesPath('a');
const status = '/accounts/a/network/advanced_dns_protection/configs/dns_protection/status';
/** An address without a listener. */
const NOBODY = '127.0.0.1:9';

describe.skipIf(postgresFolder === undefined)(
  `servers that share a PostgreSQL database${WITHOUT_POSTGRES}`,
  () => {
    let postgres: Postgres;
    let writer: RulesServer;
    let guard: RulesServer;
    const store = () => ['--rules-store', postgres.url()];

    beforeAll(async () => {
      postgres = await Postgres.start();
      const guarded = ['--dns-account', 'a', '--dns-listen', '127.0.0.1:0', '--dns-servers', NOBODY];
      [writer, guard] = await Promise.all([
        startServer({ args: store() }),
        startServer({ env: { FLOODGATE_RULES_STORE: postgres.url() }, args: guarded }),
      ]);
    });
    afterAll(async () => {
      await Promise.all([writer?.stop(), guard?.stop()]);
      await postgres?.remove();
    });

    const ruleInForce = async (): Promise<unknown> =>
      (await call(guard, { path: status })).json.result.rule?.mode;

    it('return and enforce the rules that were written to another server', async () => {
      const created = await call(writer, { method: 'POST', path, body: { ...newRule, scope: 'global' } });
      expect(created.status).toBe(200);
      expect((await call(guard, { path })).json.result).toEqual([created.json.result]);
      await until('the guard to enforce the rule', async () => (await ruleInForce()) === newRule.mode);
      const changed = {
        method: 'PATCH',
        path: `${path}/${created.json.result.id}`,
        body: { mode: 'monitoring' },
      };
      const stale = { ...changed, headers: { 'if-match': '"another"' } };
      expect((await call(writer, stale)).status).toBe(412);
      const etag = (await call(writer, changed)).headers['etag'];
      expect((await call(guard, { path: changed.path })).headers['etag']).toBe(etag);
      await until('the guard to enforce the change', async () => (await ruleInForce()) === 'monitoring');
    });

    it('share tokens and the audit log, which commands read and write too', async () => {
      const made = await floodgate(['token', 'create', '--account', 'a', '--json', ...store()]);
      expect(made.status, made.stderr).toBe(0);
      const { id, token } = JSON.parse(made.stdout);
      const statuses = () =>
        Promise.all([writer, guard].map(async (server) => (await call(server, { path, token })).status));
      expect(await statuses()).toEqual([200, 200]);
      const env = { FLOODGATE_RULES_STORE: postgres.url() };
      expect((await floodgate(['token', 'revoke', id], { env })).status).toBe(0);
      expect(await statuses()).toEqual([401, 401]);
      const audit = await floodgate(['audit', '--all', '--json'], { env });
      const actions = audit.stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).action);
      expect(actions).toEqual(['rule.create', 'rule.update', 'token.create', 'token.revoke']);
      expect((await floodgate(['store', 'migrate', ...store()])).status).toBe(0);
    });

    it('end the event stream of a token on another server when its creator is revoked', async () => {
      const create = async (token?: string) => {
        const body = { accounts: ['a'], permissions: ['dns_protection:read', 'tokens:write'] };
        const made = await call(writer, {
          method: 'POST',
          path: '/user/tokens',
          body,
          ...(token && { token }),
        });
        return made.json.result as { id: string; value: string };
      };
      const creator = await create();
      const { value } = await create(creator.value);
      const response = await fetch(guard.baseUrl + path.replace(/rules$/, 'live'), {
        headers: { authorization: `Bearer ${value}` },
      });
      expect(response.status).toBe(200);
      const text = response.text();
      expect((await call(writer, { method: 'DELETE', path: `/user/tokens/${creator.id}` })).status).toBe(200);
      expect(await text).toMatch(/^id: /);
      expect((await call(guard, { path, token: value })).status).toBe(401);
    });

    it('keep serving during an outage: mark reads as stale, reject changes, keep enforcing; and recover without a restart', async () => {
      const before = await call(writer, { path });
      expect(before.headers).not.toHaveProperty('floodgate-stale');
      const own = `${path}/${before.json.result[0].id}`;
      await postgres.stop();

      const away = await until('a read that is marked as stale', async () => {
        const answer = await call(writer, { path });
        return 'floodgate-stale' in answer.headers && answer;
      });
      expect([away.status, away.json.result]).toEqual([200, before.json.result]);
      expect(away.headers['floodgate-stale']).toMatch(/^\d+$/);
      const refused = await call(writer, { method: 'PATCH', path: own, body: { mode: 'disabled' } });
      expect([refused.status, refused.json.errors[0].code, refused.headers['retry-after']]).toEqual([
        503,
        10503,
        '1',
      ]);
      expect((await call(writer, { path: rulesPath('never-asked-for') })).status).toBe(503);
      const metrics = await (await fetch(`${writer.url}/metrics`)).text();
      expect(metrics).toContain('floodgate_rules_store_up 0');
      await until('the outage in /readyz', async () => {
        const ready = await fetch(`${writer.url}/readyz`);
        const { checks } = (await ready.json()) as { checks: { store: string } };
        expect(ready.status).toBe(200);
        return /cannot be reached/.test(checks.store);
      });
      expect(await ruleInForce()).toBe('monitoring');

      await postgres.restart();
      await until('an accepted change', async () => {
        const answer = await call(writer, { method: 'PATCH', path: own, body: { mode: 'disabled' } });
        return answer.status === 200;
      });
      expect((await call(writer, { path })).headers).not.toHaveProperty('floodgate-stale');
      await until('the guard to enforce the change', async () => (await ruleInForce()) === 'disabled');
      for (const server of [writer, guard]) expect(server.output()).not.toMatch(/pass%2Fw|pass\/w/);
    });

    it('answer 503, and log the name of the table, if the role of the database lacks a grant', async () => {
      await postgres.query(`CREATE ROLE limited LOGIN PASSWORD 'limited';
        GRANT USAGE ON SCHEMA floodgate TO limited;
        GRANT ALL ON ALL TABLES IN SCHEMA floodgate TO limited; REVOKE ALL ON floodgate.list_entries FROM limited`);
      const args = ['--rules-store', postgres.url({ user: 'limited', password: 'limited' })];
      const server = await startServer({ args });
      onTestFinished(() => server.stop().then(() => undefined));
      const entries = path.replace(/dns_protection\/rules$/, 'allowlist');
      const entry = { prefix: '192.0.2.0/24', comment: '', enabled: true };
      const denied = await call(server, { method: 'POST', path: entries, body: entry });
      expect([denied.status, denied.json.errors[0].code], denied.text).toEqual([503, 10503]);
      expect((await call(server, { path })).status).toBe(200);
      expect(server.output()).toMatch(/permission denied for table list_entries.*denies access/);
    });

    it('do not start with an invalid URL or a rejected password, and print no password', async () => {
      const folder = mkdtempSync(join(tmpdir(), 'floodgate-rules-'));
      const start = (url: string) =>
        floodgate(['start', '--role', 'rules', '--port', '0', '--data-dir', folder, '--rules-store', url]);
      // One after the other, because they share a data folder.
      const wrong = await start('postgres://u:hidden-word@h/r?sslmode=prefer');
      const other = await start('mysql://u:hidden-word@h/r');
      const refused = await start(postgres.url({ password: 'hidden-word' }));
      rmSync(folder, { recursive: true });
      expect([wrong.status, other.status, refused.status]).toEqual([64, 64, 1]);
      expect(wrong.stderr).toMatch(
        /rules\.store \(FLOODGATE_RULES_STORE, --rules-store\): sslmode is "prefer"/,
      );
      expect(refused.stderr).toMatch(/password authentication failed/);
      for (const { stdout, stderr } of [wrong, other, refused]) {
        expect(stdout + stderr).not.toContain('hidden-word');
        expect(stderr).not.toMatch(/\n\s+at /);
      }
    });
  },
);
