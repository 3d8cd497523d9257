import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { PostgresRecords } from './records.ts';
import type { StoreParts } from './storeParts.ts';

it('a change during a full read is not replaced by an older state', async () => {
  let answer: (rows: unknown[]) => void = () => undefined;
  const feed = { onKeys: async (_isAll: boolean): Promise<void> => undefined, ageMs: 0 };
  // The parts that the store uses: a database with a delayed response.
  const parts = {
    feed,
    connections: {
      assertReachable: () => undefined,
      withRetries: async () => 'revoked',
      read: () =>
        new Promise((resolve) => {
          answer = resolve;
        }),
    },
  } as unknown as StoreParts;
  const records = new PostgresRecords(parts);
  const read = feed.onKeys(true);
  await nextTurn();
  const changed = records.change('hash', () => 'revoked');
  answer([{ hash: 'hash', changed_at: 1, key: 'good' }]);
  await Promise.all([read, changed]);
  expect(records.all().get('hash')).toBe('revoked');
});
