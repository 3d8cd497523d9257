import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { MAX_ENDED_TOKENS } from '../../index.ts';
import { openRulesStorage, readRules, verifyRules, writeRules } from './index.ts';

const actor = { by: 'cli:tester', from: 'local' };

it('accepts that ended tokens were removed, but not that one is missing while fewer remain', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'floodgate-verify-rules-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const store = openRulesStorage(folder);
  const create = (hash: string) =>
    store.tokens.create(
      { hash: hash.padStart(64, '0'), label: 'x', accounts: ['a'], permissions: [], expires_on: null },
      actor,
    );
  const ended = await Promise.all(Array.from({ length: MAX_ENDED_TOKENS + 2 }, (_, i) => create(String(i))));
  await Promise.all(ended.map(({ id }) => store.tokens.revoke(id, actor)));
  const valid = await create('last');
  expect(await store.tokens.list()).toHaveLength(MAX_ENDED_TOKENS + 1);
  await store.close();
  const rules = join(folder, 'rules');
  expect(await verifyRules(rules)).toEqual([]);

  /** Copies the store without one token, and returns the problems of the copy. */
  const without = async (place: string, isRemoved: (id: string) => boolean): Promise<string[]> => {
    const target = join(folder, place);
    await writeRules(
      target,
      (async function* () {
        let removed = 0;
        for await (const batch of readRules(rules))
          yield batch.table === 'tokens'
            ? { ...batch, rows: batch.rows.filter(({ id }) => !isRemoved(id) || removed++ > 0) }
            : batch;
      })(),
    );
    return verifyRules(target);
  };
  expect(await without('valid', (id) => id === valid.id)).toEqual([`token ${valid.id} is missing`]);
  expect(await without('ended', (id) => id !== valid.id)).toHaveLength(3);
});
