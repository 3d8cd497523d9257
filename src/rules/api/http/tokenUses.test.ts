import { expect, it } from 'vitest';
import type { Token } from '../../index.ts';
import { TokenUses } from './tokenUses.ts';

it('requests of new tokens are counted although thousands of removed tokens were counted before', async () => {
  const listed = [{ id: 'kept' }, { id: 'new' }] as Token[]; // only the ids are read
  const uses = new TokenUses({
    list: async () => listed,
    lastUses: async () => new Map(),
    noteUses: async () => undefined,
  });
  for (const id of ['kept', ...Array.from({ length: 10_000 }, (_, i) => `removed-${i}`)]) uses.countValid(id);
  await expect
    .poll(() => {
      uses.countValid('new');
      return uses.requestsOf('new').count;
    })
    .toBeGreaterThan(0);
  expect(uses.requestsOf('kept').count).toBe(1);
  await uses.stop();
});
