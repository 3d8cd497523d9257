import { describe, expect, it } from 'vitest';
import { Random } from '../../../test/support/random.ts';
import {
  type SyntheticBlock,
  syntheticAddresses,
  syntheticBlock,
} from '../../../test/support/syntheticChain.ts';
import type { TraceProvider } from '../nodes/index.ts';
import { fetchBlocks, range } from './fetchBlocks.ts';

const shape = { addresses: syntheticAddresses(4), maxTransactions: 6, maxFrames: 4 };
const chain: SyntheticBlock[] = [];
for (const number of range(0, 40))
  chain.push(syntheticBlock(new Random(number), shape, { number, parentHash: chain.at(-1)?.header.hash }));
const source = { block: async (number: number) => chain[number] } as Partial<TraceProvider> as TraceProvider; // nothing else is asked

async function tracesOfBatches(store: { readonly tracesPerChange?: number }): Promise<number[]> {
  const batches: number[] = [];
  for await (const blocks of fetchBlocks(range(0, 40), {
    store,
    source,
    signal: new AbortController().signal,
  }))
    batches.push(blocks.reduce((sum, { block }) => sum + block.traceCount, 0));
  return batches;
}

describe('fetchBlocks', () => {
  it('gathers as many traces for a change as the store asks for', async () => {
    const [all = 0] = await tracesOfBatches({});
    const batches = await tracesOfBatches({ tracesPerChange: 30 });
    expect(batches.length).toBeGreaterThan(2);
    expect(batches.slice(0, -1).every((traces) => traces >= 30)).toBe(true);
    expect(batches.reduce((sum, traces) => sum + traces)).toBe(all);
  });
});
