import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { openGatewayStorage } from '../../src/ethereum/store/lmdb/gateway/index.ts';
import { QUIET } from '../../src/platform/logging/index.ts';
import { type Actor, exampleRule, type RulesStorage } from '../../src/rules/index.ts';
import { openRulesStorage, verifyRules } from '../../src/rules/store/lmdb/index.ts';
import { openPostgresRules } from '../../src/rules/store/postgres/index.ts';
import { copyStore } from '../../src/server/index.ts';
import { floodgate } from '../rules/support/command.ts';
import { CuttingProxy } from '../support/cuttingProxy.ts';
import { Postgres, postgresFolder, WITHOUT_POSTGRES } from '../support/postgres.ts';
import { PROGRAM } from '../support/program.ts';
import { temporaryFolder } from '../support/smallFileSystem.ts';
import { spawnGuarded } from '../support/spawn.ts';
import { until } from '../support/until.ts';

const actor: Actor = { by: 'token-1', label: 'ünïcode', from: '192.0.2.1' };
/** More than are read or written at once. */
const MANY = 1_100;
const copy = (from: string, to: string) => copyStore({ from, to, progress: () => undefined });

describe.skipIf(postgresFolder === undefined)(`a store that is copied${WITHOUT_POSTGRES}`, () => {
  let postgres: Postgres;
  let source: string;
  beforeAll(async () => {
    postgres = await Postgres.start(['fsync=off']);
  });
  afterAll(() => postgres?.remove());
  beforeEach(async () => {
    await postgres.query('DROP SCHEMA IF EXISTS floodgate CASCADE');
    source = temporaryFolder();
    const storage = openRulesStorage(source);
    await fill(storage);
    await storage.close();
    const gateway = openGatewayStorage(source, 1024 * 1024);
    const createdOn = '2026-11-22T00:00:00.000Z';
    await gateway.keys.add('ab'.repeat(32), { id: 'aaaa0001', name: 'one', createdOn });
    await gateway.close();
  });

  it('is the same there and back: ids, moments, tokens, lists, keys, audit, retry keys', async () => {
    const there = await copy(source, postgres.url());
    const target = join(temporaryFolder(), 'new');
    const back = await copy(postgres.url(), target);
    expect(there.differences(back)).toEqual([]);
    expect([there.count('rule'), there.count('key'), there.count('token')]).toEqual([3, 1, 1]);
    expect(there.count('change')).toBeGreaterThan(MANY);

    const stores = [
      openRulesStorage(source),
      await openPostgresRules({ url: postgres.url() }, { log: QUIET }),
      openRulesStorage(target),
    ];
    const [first, ...others] = await Promise.all(stores.map(everything));
    for (const other of others) expect(other).toEqual(first);
    // Each goes on where the first was: a retry is answered as there, and what comes now is later than all.
    for (const { rules } of stores) {
      const replayed = await rules.create('a', exampleRule, { actor, retryKey: 'retry' });
      expect(replayed.replayed).toBe(true);
      const { rule } = await rules.create('b', exampleRule, { actor });
      expect(rule.modified_on > (first?.newest ?? '')).toBe(true);
    }
    await Promise.all(stores.map((store) => store.close()));
    expect(await verifyRules(join(target, 'rules'))).toEqual([]);
    const gateway = openGatewayStorage(target, 1024 * 1024);
    expect(gateway.keys.find('ab'.repeat(32))).toMatchObject({ id: 'aaaa0001' });
    await gateway.close();
  });

  it('is not put where something is, nor taken from where a server runs', async () => {
    await copy(source, postgres.url());
    await expect(copy(source, postgres.url())).rejects.toThrow(/database of rules is not empty/);
    await expect(copy(postgres.url(), source)).rejects.toThrow(/is not empty/);
    await expect(copy(source, source)).rejects.toThrow(/the same store/);
    // Keys alone are something, too.
    const keys = temporaryFolder();
    const gateway = openGatewayStorage(keys, 1024 * 1024);
    await gateway.keys.add('a', { id: 'aaaa0001', name: 'one', createdOn: 'now' });
    await gateway.close();
    await expect(copy(postgres.url(), keys)).rejects.toThrow(/is not empty/);
    expect(existsSync(join(keys, 'rules'))).toBe(false);
  });

  it('into a store that a server has opened and nobody has written is copied, and the server knows it', async () => {
    const storage = await openPostgresRules({ url: postgres.url() }, { log: QUIET });
    onTestFinished(() => storage.close());
    expect(await storage.rules.list('a')).toEqual([]);
    const heard: string[] = [];
    storage.rules.onChange((account) => heard.push(account));
    await copy(source, postgres.url());
    await until('it is heard of', () => heard.includes('a'));
    expect(await storage.rules.list('a')).toHaveLength(2);
    await until('keys are known', () => storage.shared?.keys.all().size === 1);
  });

  it('of which something is lost on the way is not there at all', async () => {
    const storage = await openPostgresRules({ url: postgres.url() }, { log: QUIET });
    await storage.close();
    // A server that writes something else than it is given.
    await postgres.query(`CREATE FUNCTION floodgate.lose() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN IF NEW.account = 'a' THEN RETURN NULL; END IF; RETURN NEW; END $$;
      CREATE TRIGGER lose BEFORE INSERT ON floodgate.rules FOR EACH ROW EXECUTE FUNCTION floodgate.lose()`);
    await expect(copy(source, postgres.url())).rejects.toThrow(/rule: 3 read, 1 found/);
    await postgres.query('DROP TRIGGER lose ON floodgate.rules');
    expect((await copy(source, postgres.url())).count('rule')).toBe(3);
  });

  it('and killed in between is not there, in a database, and is made anew, in a folder', async () => {
    // The tables are there: what is held up is the copy.
    await (await openPostgresRules({ url: postgres.url() }, { log: QUIET })).close();
    const proxy = await CuttingProxy.start(postgres.port);
    onTestFinished(() => proxy.stop());
    const through = postgres.url({ port: proxy.port });
    await kill(['--from', source, '--to', through], () => proxy.holdNext('COMMIT'));
    const [held] = await postgres.query('SELECT count(*)::int AS count FROM floodgate.rules');
    expect(held).toEqual({ count: 0 });
    await copy(source, postgres.url());

    const target = temporaryFolder();
    // When it has read the first records.
    await kill(['--from', through, '--to', target], () => proxy.holdNext('FETCH', 2));
    const tokens = await floodgate(['token', 'list', '--data-dir', target]);
    expect(tokens.status).toBe(1);
    expect(tokens.stderr).toMatch(/was broken off.*`floodgate store copy` again/);
    const again = await floodgate(['store', 'copy', '--from', postgres.url(), '--to', target]);
    expect(again.status, again.stderr).toBe(0);
    expect(again.stdout).toMatch(/rules +3 +[0-9a-f]{16}/);
    expect(again.stdout + again.stderr).not.toContain('pass%2Fw');
    expect((await floodgate(['token', 'list', '--data-dir', target])).stdout).toContain('pipeline');
    expect(await verifyRules(join(target, 'rules'))).toEqual([]);

    /** Kills a copy where the proxy holds it up. */
    async function kill(args: readonly string[], hold: () => Promise<void>): Promise<void> {
      const held = hold();
      const child = spawnGuarded(process.execPath, [PROGRAM, 'store', 'copy', ...args]);
      const ended = new Promise((resolve) => child.once('exit', resolve));
      await held;
      child.kill('SIGKILL');
      await ended;
    }
  });
});

async function fill({ rules, lists, tokens }: RulesStorage): Promise<void> {
  const { rule } = await rules.create('a', exampleRule, { actor, retryKey: 'retry' });
  await rules.create('a', { ...exampleRule, name: 'ü "quoted" \\ \u2028' }, { actor });
  await rules.create('a-b', exampleRule, { actor });
  const gone = await rules.create('gone', exampleRule, { actor });
  await rules.delete('gone', gone.rule.id, { check: () => undefined, actor });
  const list = { accountId: 'lists-only', list: 'denylist' } as const;
  const entry = await lists.create(list, { prefix: '192.0.2.0/24', comment: 'ü', enabled: true }, actor);
  await lists.create(list, { name: 'example.test', comment: '', enabled: false }, actor);
  await lists.update(list, entry.id, { decide: () => ({ enabled: false }), actor });
  await tokens.create(
    {
      ...{ hash: 'cd'.repeat(32), label: 'pipeline', accounts: ['a'], expires_on: null },
      permissions: ['dns_protection:write'],
    },
    actor,
  );
  await Promise.all(
    Array.from({ length: MANY }, (_, index) =>
      rules.update('a', rule.id, { decide: () => ({ mode: index % 2 ? 'disabled' : 'enabled' }), actor }),
    ),
  );
}

async function everything({ rules, lists, tokens, audit }: RulesStorage) {
  const changes = [];
  for await (const change of audit.read({})) changes.push(change);
  return {
    rules: await Promise.all(['a', 'a-b', 'gone'].map((account) => rules.list(account))),
    entries: await lists.entries({ accountId: 'lists-only', list: 'denylist' }),
    tokens: await tokens.list(),
    changes,
    newest: changes.at(-1)?.at,
  };
}
