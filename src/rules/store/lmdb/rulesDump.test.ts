import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Batch, checkNewZonePolicy, exampleRule } from '../../index.ts';
import { openRulesStorage, readRules, verifyRules, writeRules } from './index.ts';

const actor = { by: 'token-1', from: '192.0.2.1' };
let folder: string;
let batches: Batch[];

async function rowsOf(store: string): Promise<Batch[]> {
  const found: Batch[] = [];
  for await (const batch of readRules(store)) found.push(batch);
  return found;
}

/** Writes a store with a rule, an entry of a list, two zone policies and a token, and reads its rows. */
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'floodgate-dump-'));
  const store = openRulesStorage(folder);
  await store.rules.create('a', exampleRule, { actor, retryKey: 'key' });
  const entry = { prefix: '192.0.2.0/24', comment: '', enabled: true };
  await store.lists.create({ accountId: 'a', list: 'denylist' }, entry, { actor });
  for (const zone of ['example.com', 'example.net'])
    await store.zonePolicies.create('a', checkNewZonePolicy({ zone }), { actor });
  const token = { hash: 'ab'.repeat(32), label: 'pipeline', accounts: ['a'], expires_on: null };
  await store.tokens.create({ ...token, permissions: ['dns_protection:read'] }, actor);
  await store.close();
  batches = await rowsOf(join(folder, 'rules'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Copies the rows into a new store. Returns the rows of that store and its errors. */
async function copied(rows: readonly Batch[]) {
  const target = join(folder, 'copy');
  await writeRules(
    target,
    (async function* () {
      yield* rows;
    })(),
  );
  return { found: await rowsOf(target), problems: await verifyRules(target) };
}

it.each([null, 1_700_000_000_000_000])(
  'a copy of a store has the same rows and no errors, with a clock that is behind since %s',
  async (behind_since) => {
    const rows = batches.map((batch) =>
      batch.table === 'clock'
        ? { ...batch, rows: batch.rows.map(({ moment }) => ({ moment, behind_since })) }
        : batch,
    );
    expect(await copied(rows)).toEqual({ found: rows, problems: [] });
  },
);

it('a store that lacks a rule, an entry, a zone policy or a token has errors', async () => {
  for (const table of ['rules', 'list_entries', 'zone_policies', 'tokens']) {
    const { problems } = await copied(batches.filter((batch) => batch.table !== table));
    expect(problems).not.toEqual([]);
    rmSync(join(folder, 'copy'), { recursive: true });
  }
});
