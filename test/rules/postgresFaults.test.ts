import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { PostgresFleet } from '../../src/dns/store/postgres/index.ts';
import { QUIET } from '../../src/platform/logging/index.ts';
import {
  type Actor,
  exampleRule,
  OutcomeUnknown,
  type RulesStorage,
  type SharedDatabase,
  StoreUnavailable,
} from '../../src/rules/index.ts';
import { openPostgresRules, type PostgresRulesOptions } from '../../src/rules/store/postgres/index.ts';
import { CuttingProxy } from '../support/cuttingProxy.ts';
import { Postgres, postgresFolder, WITHOUT_POSTGRES } from '../support/postgres.ts';
import { until } from '../support/until.ts';
import { auditEntries, Outcomes } from './support/outcomes.ts';

const actor: Actor = { by: 'token-1', from: '192.0.2.1' };
const token = {
  hash: 'ab'.repeat(32),
  label: 'pipeline',
  accounts: ['a'],
  expires_on: null,
  permissions: ['dns_protection:write'],
} as const;
const MINUTE_MS = 60_000;
/** Queries of Floodgate that run. */
const ACTIVE =
  'SELECT query FROM pg_stat_activity WHERE application_name = $$floodgate$$ AND state <> $$idle$$';
/** Terminates all connections of Floodgate. */
const CUT = 'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $$floodgate$$';

describe.skipIf(postgresFolder === undefined)(`the rules store on PostgreSQL${WITHOUT_POSTGRES}`, () => {
  let postgres: Postgres;
  beforeAll(async () => {
    postgres = await Postgres.start();
  });
  afterAll(() => postgres?.remove());
  beforeEach(async () => {
    await postgres.query('DROP SCHEMA IF EXISTS floodgate CASCADE');
  });

  const open = async (
    options: Partial<PostgresRulesOptions> = {},
    monotonicMs?: () => number,
  ): Promise<RulesStorage> => {
    const storage = await openPostgresRules(
      { url: postgres.url(), ...options },
      { log: QUIET, ...(monotonicMs && { monotonicMs }) },
    );
    onTestFinished(() => storage.close());
    return storage;
  };

  it('loses no acknowledged change if PostgreSQL is killed during writes, and reconnects', async () => {
    const instances = [await open(), await open()];
    const outcomes = new Outcomes();
    let isFinished = false;
    const writers = instances.flatMap((instance, index) =>
      Array.from({ length: 6 }, (_, writer) =>
        outcomes.write(instance, `kill-${index}-${writer % 2}`, () => isFinished),
      ),
    );
    for (let round = 0; round < 2; round++) {
      const enough = outcomes.acknowledged.length + 60;
      await until('60 more acknowledged changes', () => outcomes.acknowledged.length > enough);
      await postgres.kill();
      await postgres.restart();
    }
    const enough = outcomes.acknowledged.length + 60;
    await until('60 acknowledged changes after the restart', () => outcomes.acknowledged.length > enough);
    isFinished = true;
    await Promise.all(writers);
    await outcomes.expectConsistent(instances[0] as RulesStorage);
  });

  it('reports the outcome of every change if its connections are terminated repeatedly', async () => {
    const instances = [await open(), await open()];
    const outcomes = new Outcomes();
    let isFinished = false;
    const writers = instances.flatMap((instance, index) =>
      Array.from({ length: 4 }, () => outcomes.write(instance, `cut-${index}`, () => isFinished)),
    );
    for (let round = 0; round < 12; round++) {
      const enough = outcomes.acknowledged.length + 10;
      await until('10 more acknowledged changes', () => outcomes.acknowledged.length > enough);
      await postgres.query(CUT);
    }
    isFinished = true;
    await Promise.all(writers);
    await outcomes.expectConsistent(instances[1] as RulesStorage);
  });

  describe('with a lost response to COMMIT', () => {
    let proxy: CuttingProxy;
    beforeEach(async () => {
      proxy = await CuttingProxy.start(postgres.port);
    });
    const through = (options = {}) => open({ url: postgres.url({ port: proxy.port }), ...options });

    it.each(['before', 'after'] as const)(
      'looks up the outcome and makes the change once (connection cut %s COMMIT arrives)',
      async (cut) => {
        const { rules, audit } = await through();
        onTestFinished(() => proxy.stop());
        proxy.closeNext('COMMIT', cut);
        const { item: rule } = await rules.create('a', exampleRule, { actor });
        expect(proxy.cuts).toBe(1);
        expect(await rules.list('a')).toEqual([rule]);
        expect(await auditEntries(audit)).toHaveLength(1);
      },
    );

    it('throws OutcomeUnknown if the outcome cannot be looked up', async () => {
      const { rules } = await through({ lookUpMs: 300 });
      onTestFinished(() => proxy.stop());
      proxy.closeNext('COMMIT', 'after, for good');
      await expect(rules.create('a', exampleRule, { actor })).rejects.toBeInstanceOf(OutcomeUnknown);
      proxy.isClosed = false;
      expect(await (await open()).rules.list('a')).toHaveLength(1);
      await until(
        'the rules to be readable again',
        async () => (await rules.list('a').catch(() => [])).length === 1,
      );
    });
  });

  it('reports changes of other instances while its LISTEN connection is cut, and after it reconnected', async () => {
    const [here, there] = [await open(), await open()];
    const heard: string[] = [];
    here.rules.onChange((account) => heard.push(account));
    const listening = `FROM pg_stat_activity WHERE query LIKE 'LISTEN%'`;
    await postgres.query(`SELECT pg_terminate_backend(pid) ${listening}`);
    await there.rules.create('polled', exampleRule, { actor });
    await until('the change to be found by polling', () => heard.includes('polled'));
    await until('both LISTEN connections', async () => {
      const [row] = await postgres.query(`SELECT count(*)::int AS count ${listening}`);
      return row?.['count'] === 2;
    });
    await there.rules.create('noticed', exampleRule, { actor });
    await until('the notification of the change', () => heard.includes('noticed'));
  });

  it('serves cached rules during an outage, tokens for five minutes, and rejects changes until it ends', async () => {
    let ageMs = 0;
    const [here, there] = [await open({}, () => performance.now() + ageMs), await open()];
    const { item: rule } = await here.rules.create('a', exampleRule, { actor });
    const entry = { prefix: '192.0.2.0/24', comment: '', enabled: true };
    const list = { accountId: 'a', list: 'denylist' } as const;
    await here.lists.create(list, entry, { actor });
    await here.tokens.create(token, actor);
    expect(await here.rules.list('a')).toEqual([rule]);
    expect(await here.lists.list(list)).toHaveLength(1);
    await here.tokens.findByHash(token.hash);
    // Changes by another instance are replicated before the first read.
    const heard: string[] = [];
    here.rules.onChange((account) => heard.push(account));
    const changed = await there.rules.update('a', rule.id, { decide: () => ({ mode: 'disabled' }), actor });
    await until('the notification of the change', () => heard.includes('a'));
    // The notification starts a read of the list.
    await until('the end of all queries', async () => (await postgres.query(ACTIVE)).length === 0);

    await postgres.stop();
    const newest = await until('the change in the list', async () => {
      const rules = await here.rules.list('a');
      return rules[0]?.mode === 'disabled' && rules;
    });
    expect(newest).toEqual([changed]);
    expect(await here.rules.get('a', rule.id)).toEqual(changed);
    expect(await here.lists.list(list)).toMatchObject([entry]);
    expect(here.staleSeconds).toBeGreaterThanOrEqual(0);
    expect((await here.tokens.findByHash(token.hash))?.label).toBe('pipeline');
    for (const refused of [
      () => here.rules.list('never asked for'),
      () => here.rules.create('a', exampleRule, { actor }),
      () => here.tokens.findByHash('cd'.repeat(32)),
      () => here.probe(),
    ])
      await expect(refused()).rejects.toBeInstanceOf(StoreUnavailable);
    ageMs = 6 * MINUTE_MS;
    await expect(here.tokens.findByHash(token.hash)).rejects.toBeInstanceOf(StoreUnavailable);
    expect(await here.rules.list('a')).toEqual([changed]);

    await postgres.restart();
    await until('the end of the outage', () => here.staleSeconds === undefined);
    await here.rules.deleteAll('a', actor);
    await here.probe();
    expect((await here.tokens.findByHash(token.hash))?.label).toBe('pipeline');
  });

  it('drops cached rules and tokens that PostgreSQL has lost after an outage', async () => {
    const { rules, tokens } = await open();
    const { item: rule } = await rules.create('a', exampleRule, { actor });
    await tokens.create(token, actor);
    await tokens.findByHash(token.hash);
    await rules.list('a');
    const heard: string[] = [];
    rules.onChange((account) => heard.push(account));
    // As after the promotion of a standby that lagged.
    await postgres.query(
      `DELETE FROM floodgate.rules; DELETE FROM floodgate.accounts; DELETE FROM floodgate.audit; DELETE FROM floodgate.tokens;
       UPDATE floodgate.clock SET moment = 1, tokens_changed_at = 0; ${CUT}`,
    );
    await until('the notification of the change', () => heard.includes('a'));
    expect(await rules.list('a')).toEqual([]);
    expect(await tokens.findByHash(token.hash)).toBeUndefined();
    const again = await rules.create('a', exampleRule, { actor });
    expect(again.item.modified_on > rule.modified_on).toBe(true);
  });

  it('creates its tables once if instances start concurrently', async () => {
    const instances = await Promise.all(Array.from({ length: 4 }, () => open()));
    const rules = await Promise.all(instances.map((one) => one.rules.create('a', exampleRule, { actor })));
    expect(new Set(rules.map(({ item: rule }) => rule.modified_on)).size).toBe(4);
    const [format] = await postgres.query('SELECT count(*)::int AS count FROM floodgate.format');
    expect(format).toEqual({ count: 1 });
  });

  it('opens a newer format only if that format allows this release', async () => {
    await (await open()).rules.create('a', exampleRule, { actor });
    await postgres.query('UPDATE floodgate.format SET format = 99');
    expect(await (await open()).rules.list('a')).toHaveLength(1);
    await postgres.query('UPDATE floodgate.format SET oldest_user = 98');
    await expect(open()).rejects.toThrow(/has format 99, for releases that know format 98 or later/);
  });

  it('rejects a schema from before 0.1.0 and leaves it unchanged', async () => {
    await postgres.query(`CREATE SCHEMA floodgate;
      CREATE TABLE floodgate.format (version integer NOT NULL, oldest_user integer NOT NULL);
      INSERT INTO floodgate.format VALUES (2, 1)`);
    await expect(open()).rejects.toThrow(
      /was written before 0\.1\.0; use a new database, or drop the schema/,
    );
    const [format] = await postgres.query('SELECT * FROM floodgate.format');
    expect(format).toEqual({ version: 2, oldest_user: 1 });
  });

  it('queues operations if the role has few connections, and rejects none', async () => {
    await postgres.query(`DROP ROLE IF EXISTS few; CREATE ROLE few LOGIN SUPERUSER PASSWORD 'few'`);
    await postgres.query(
      'ALTER ROLE few NOSUPERUSER CONNECTION LIMIT 3; GRANT CREATE ON DATABASE postgres TO few',
    );
    const { rules, tokens } = await open({ url: postgres.url({ user: 'few', password: 'few' }) });
    const { item: rule } = await rules.create('a', exampleRule, { actor });
    const reads = Array.from({ length: 40 }, (_, index) =>
      index % 2 === 0 ? rules.get('a', rule.id) : tokens.findByHash(token.hash),
    );
    const writes = Array.from({ length: 10 }, () => rules.create('a', exampleRule, { actor }));
    await Promise.all([...reads, ...writes]);
    expect(await rules.list('a')).toHaveLength(11);
  });

  it('works with the grants of docs/operate/postgresql.md, which do not permit changes of the audit log', async () => {
    const name = 'floodgate_server';
    await postgres.query(
      `DO $$ BEGIN CREATE ROLE ${name} LOGIN PASSWORD 'server'; EXCEPTION WHEN duplicate_object THEN NULL; END $$`,
    );
    const url = postgres.url({ user: name, password: 'server' });
    await expect(open({ url })).rejects.toThrow(/`floodgate store migrate` as the owner/);
    await (await open()).probe();
    const page = readFileSync(new URL('../../docs/operate/postgresql.md', import.meta.url), 'utf8');
    const grants = /<!-- grants:.*?```sql\n(.*?)```/s.exec(page)?.[1] ?? '';
    await postgres.query(grants);
    const { rules, lists, tokens, shared, probe } = await open({ url });
    const { item: rule } = await rules.create('a', exampleRule, { actor, retryKey: 'key' });
    expect((await rules.create('a', exampleRule, { actor, retryKey: 'key' })).replayed).toBe(true);
    await rules.update('a', rule.id, { decide: () => ({ mode: 'disabled' }), actor });
    await rules.deleteAll('a', actor);
    const list = { accountId: 'a', list: 'allowlist' } as const;
    await lists.create(list, { name: 'example.test', comment: '', enabled: true }, { actor });
    await lists.deleteAll(list, actor);
    await tokens.revoke((await tokens.create(token, actor)).id, actor);
    await shared?.keys.change('hash', () => ({ id: 'key' }));
    const fleet = new PostgresFleet(shared as SharedDatabase);
    const self = { id: 'guard', run: 'run', account: 'a', place: {} };
    await fleet.heartbeat(self, {
      version: '1',
      data_plane: 'embedded',
      started_on: 'now',
      rule_since: 'now',
    });
    await fleet.resumeFrom(self);
    await fleet.putMinutes(self, []);
    await fleet.putAttacks(self, []);
    await fleet.deleteExpired(Date.now());
    expect(await fleet.instances('a')).toHaveLength(1);
    await probe();
    const forbidden = [
      'DELETE FROM floodgate.audit',
      'UPDATE floodgate.audit SET at = 1',
      'DROP TABLE floodgate.rules',
    ];
    for (const sql of forbidden)
      await expect(postgres.query(`SET ROLE ${name}; ${sql}`)).rejects.toThrow(
        /permission denied|must be owner/,
      );
  });

  it('reports why it cannot connect, without the password', async () => {
    const wrong = [
      { url: postgres.url({ password: 'not-the-password' }), says: /password authentication failed/ },
      { url: postgres.url({ port: 9, password: 'not-the-password' }), says: /ECONNREFUSED/ },
      { url: postgres.url({ database: 'nowhere' }), says: /database "…" does not exist/ },
      { url: `${postgres.url()}?sslmode=require`, says: /does not support SSL/ },
    ];
    for (const { url, says } of wrong) {
      await expect(open({ url })).rejects.toBeInstanceOf(StoreUnavailable);
      await expect(open({ url })).rejects.toThrow(says);
      await expect(open({ url })).rejects.not.toThrow(/not-the-password|pass%2Fw|w@rd|nowhere/);
    }
  });
});
