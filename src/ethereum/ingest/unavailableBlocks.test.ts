import { expect, it } from 'vitest';
import { until } from '../../../test/support/until.ts';
import type { Hash, IndexedBlock, UnavailableBlock } from '../traces/index.ts';
import { UnavailableBlocks, type UnavailableBlocksDependencies } from './unavailableBlocks.ts';

const unavailable = {
  number: 5,
  hash: '0x05' as Hash,
  unavailable: 'not traced',
} as unknown as UnavailableBlock;
const MINUTE_MS = 60_000;
const available = (number: number) => ({ block: { number } }) as IndexedBlock;

it('the unavailable blocks are read again only after a change that concerns them', async () => {
  let reads = 0;
  const store = {
    unavailable: () => Promise.resolve(++reads === 1 ? [unavailable] : []),
  };
  const dependencies = { store, nowMs: () => 0 } as unknown as UnavailableBlocksDependencies;
  const blocks = new UnavailableBlocks(1, dependencies);
  await blocks.changed({ blocks: [available(4)] });
  expect(reads).toBe(0);
  await blocks.changed({ blocks: [available(4), { block: unavailable } as unknown as IndexedBlock] });
  expect(blocks.known).toEqual([unavailable]);
  await blocks.changed({ blocks: [available(6)], undoFrom: 6 });
  expect(reads).toBe(1);
  await blocks.changed({ blocks: [available(5)] });
  expect(blocks.known).toEqual([]);
});

it('an unavailable block is retried after a pause', async () => {
  const stop = new AbortController();
  let [nowMs, reads, retries] = [0, 0, 0];
  const store = {
    unavailable: async () => {
      reads++;
      return [unavailable];
    },
  };
  const dependencies = {
    store,
    signal: stop.signal,
    nowMs: () => nowMs++ * MINUTE_MS,
    source: { block: async () => void retries++ },
    runExclusive: (write: () => Promise<void>) => write(),
  } as unknown as UnavailableBlocksDependencies;
  const running = new UnavailableBlocks(1, dependencies).run();
  await until('ten reads of the store', () => reads > 10);
  stop.abort();
  await running;
  expect(retries).toBeGreaterThan(0);
});
