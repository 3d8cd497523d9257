import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { openGatewayStorage } from '../../src/ethereum/store/lmdb/gateway/index.ts';
import { QUIET } from '../../src/platform/logging/index.ts';
import {
  type Actor,
  checkNewZonePolicy,
  exampleRule,
  type RulesStorage,
  ZoneHasPolicy,
} from '../../src/rules/index.ts';
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
/** More rows than fit into one batch. */
const MANY = 1_100;

describe.skipIf(postgresFolder === undefined)(`a rules store${WITHOUT_POSTGRES}`, () => {
  let postgres: Postgres;
  let source: string;
  beforeAll(async () => {
    postgres = await Postgres.start();
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

  it('is identical after a copy to PostgreSQL and back: ids, timestamps, tokens and their last uses, lists, keys, audit log, idempotency keys', async () => {
    const there = await copyStore(source, postgres.url());
    const target = join(temporaryFolder(), 'new');
    const back = await copyStore(postgres.url(), target);
    expect(Object.fromEntries(back)).toEqual(Object.fromEntries(there));
    expect(Object.fromEntries(there)).toMatchObject({
      rules: 3,
      gateway_keys: 1,
      tokens: 1,
      list_entries: 2,
      zone_policies: 1,
    });
    expect(there.get('audit')).toBeGreaterThan(MANY);

    const stores = [
      openRulesStorage(source),
      await openPostgresRules({ url: postgres.url() }, { log: QUIET }),
      openRulesStorage(target),
    ];
    const [first, ...others] = await Promise.all(stores.map(everything));
    for (const other of others) expect(other).toEqual(first);
    // A retry returns the first result, and a new change is later than all copied ones.
    for (const { rules, zonePolicies } of stores) {
      const zone = checkNewZonePolicy({ zone: 'a\\032b.example', rate: 100, comment: 'ü' });
      expect((await zonePolicies.create('zones-only', zone, { actor, retryKey: 'zone' })).replayed).toBe(
        true,
      );
      await expect(zonePolicies.create('zones-only', zone, { actor })).rejects.toBeInstanceOf(ZoneHasPolicy);
      const replayed = await rules.create('a', exampleRule, { actor, retryKey: 'retry' });
      expect(replayed.replayed).toBe(true);
      const { item: rule } = await rules.create('b', exampleRule, { actor });
      expect(rule.modified_on > (first?.newest ?? '')).toBe(true);
    }
    await Promise.all(stores.map((store) => store.close()));
    expect(await verifyRules(join(target, 'rules'))).toEqual([]);
    const gateway = openGatewayStorage(target, 1024 * 1024);
    expect(gateway.keys.find('ab'.repeat(32))).toMatchObject({ id: 'aaaa0001' });
    await gateway.close();
  });

  it('is not copied into a store that is not empty', async () => {
    await copyStore(source, postgres.url());
    await expect(copyStore(source, postgres.url())).rejects.toThrow(/rules database is not empty/);
    await expect(copyStore(postgres.url(), source)).rejects.toThrow(/is not empty/);
    await expect(copyStore(source, source)).rejects.toThrow(/the same store/);
    // A store that has only keys is not empty.
    const keys = temporaryFolder();
    const gateway = openGatewayStorage(keys, 1024 * 1024);
    await gateway.keys.add('a', { id: 'aaaa0001', name: 'one', createdOn: 'now' });
    await gateway.close();
    await expect(copyStore(postgres.url(), keys)).rejects.toThrow(/is not empty/);
    expect(existsSync(join(keys, 'rules'))).toBe(false);
  });

  it('is copied into an empty database that a server uses, and the server reads the copy', async () => {
    const storage = await openPostgresRules({ url: postgres.url() }, { log: QUIET });
    onTestFinished(() => storage.close());
    expect(await storage.rules.list('a')).toEqual([]);
    const heard: string[] = [];
    storage.rules.onChange((account) => heard.push(account));
    await copyStore(source, postgres.url());
    await until('the notification of the change', () => heard.includes('a'));
    expect(await storage.rules.list('a')).toHaveLength(2);
    await until('the key in the server', () => storage.shared?.keys.all().size === 1);
  });

  it('can be copied again after the copy was killed', async () => {
    // Creates the tables, so that the proxy holds the COMMIT of the copy.
    await (await openPostgresRules({ url: postgres.url() }, { log: QUIET })).close();
    const proxy = await CuttingProxy.start(postgres.port);
    onTestFinished(() => proxy.stop());
    const through = postgres.url({ port: proxy.port });
    await kill(['--from', source, '--to', through], () => proxy.stallNext('COMMIT'));
    const [held] = await postgres.query('SELECT count(*)::int AS count FROM floodgate.rules');
    expect(held).toEqual({ count: 0 });
    await copyStore(source, postgres.url());

    const target = temporaryFolder();
    // After the first rows.
    await kill(['--from', through, '--to', target], () => proxy.stallNext('FETCH', 2));
    expect(existsSync(join(target, 'rules'))).toBe(false);
    const again = await floodgate(['store', 'copy', '--from', postgres.url(), '--to', target]);
    expect(again.status, again.stderr).toBe(0);
    expect(again.stdout).toMatch(/rules +3\n/);
    expect(again.stdout).toMatch(/zone policies +1\n/);
    expect(again.stdout + again.stderr).not.toContain('pass%2Fw');
    expect((await floodgate(['token', 'list', '--data-dir', target])).stdout).toContain('pipeline');
    expect(await verifyRules(join(target, 'rules'))).toEqual([]);

    /** Starts a copy, and kills it when the proxy holds a message. */
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

async function fill({ rules, lists, zonePolicies, tokens }: RulesStorage): Promise<void> {
  const { item: rule } = await rules.create('a', exampleRule, { actor, retryKey: 'retry' });
  await rules.create('a', { ...exampleRule, name: 'ü "quoted" \\ \u2028' }, { actor });
  await rules.create('a-b', exampleRule, { actor });
  const gone = await rules.create('gone', exampleRule, { actor });
  await rules.delete('gone', gone.item.id, { check: () => undefined, actor });
  const list = { accountId: 'lists-only', list: 'denylist' } as const;
  const { item: entry } = await lists.create(
    list,
    { prefix: '192.0.2.0/24', comment: 'ü', enabled: true },
    { actor },
  );
  await lists.create(list, { name: 'example.test', comment: '', enabled: false }, { actor });
  await lists.update(list, entry.id, { decide: () => ({ enabled: false }), actor });
  const zone = checkNewZonePolicy({ zone: 'a\\032b.example', rate: 100, comment: 'ü' });
  const { item: policy } = await zonePolicies.create('zones-only', zone, { actor, retryKey: 'zone' });
  await zonePolicies.update('zones-only', policy.id, { decide: () => ({ rate: null }), actor });
  const other = checkNewZonePolicy({ zone: '.' });
  await zonePolicies.delete(
    'zones-only',
    (await zonePolicies.create('zones-only', other, { actor })).item.id,
    {
      check: () => undefined,
      actor,
    },
  );
  const token = await tokens.create(
    {
      hash: 'cd'.repeat(32),
      label: 'pipeline',
      accounts: ['a'],
      expires_on: null,
      permissions: ['dns_protection:write'],
    },
    actor,
  );
  await tokens.noteUses(new Map([[token.id, '2026-11-22T00:00:00.000000+00:00']]));
  await Promise.all(
    Array.from({ length: MANY }, (_, index) =>
      rules.update('a', rule.id, { decide: () => ({ mode: index % 2 ? 'disabled' : 'enabled' }), actor }),
    ),
  );
}

async function everything({ rules, lists, zonePolicies, tokens, audit }: RulesStorage) {
  const changes = [];
  for await (const change of audit.read({})) changes.push(change);
  return {
    rules: await Promise.all(['a', 'a-b', 'gone'].map((account) => rules.list(account))),
    entries: await lists.list({ accountId: 'lists-only', list: 'denylist' }),
    zonePolicies: await zonePolicies.list('zones-only'),
    tokens: await tokens.list(),
    lastUses: await tokens.lastUses(),
    changes,
    newest: changes.at(-1)?.at,
  };
}
