import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { Random } from '../../../test/support/random.ts';
import {
  type SyntheticBlock,
  syntheticAddresses,
  syntheticBlock,
} from '../../../test/support/syntheticChain.ts';
import type { TraceProvider } from '../nodes/index.ts';
import type { Data } from '../traces/index.ts';
import { fetchBlocks, range } from './fetchBlocks.ts';

const shape = { addresses: syntheticAddresses(4), maxTransactions: 6, maxFrames: 4 };
const chain: SyntheticBlock[] = [];
for (const number of range(0, 40))
  chain.push(syntheticBlock(new Random(number), shape, { number, parentHash: chain.at(-1)?.header.hash }));
const source = { block: async (number: number) => chain[number] } as Partial<TraceProvider> as TraceProvider; // no other method is called

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
  it('gathers as many traces per change as the store requests', async () => {
    const [all = 0] = await tracesOfBatches({});
    const batches = await tracesOfBatches({ tracesPerChange: 30 });
    expect(batches.length).toBeGreaterThan(2);
    expect(batches.slice(0, -1).every((traces) => traces >= 30)).toBe(true);
    expect(batches.reduce((sum, traces) => sum + traces)).toBe(all);
  });

  it('writes large blocks early and reduces parallel fetches, so that few are in memory', async () => {
    const bytes = 5 * 1024 * 1024;
    const input = `0x${'5a'.repeat(bytes)}` as Data; // hex digits
    const withInput = ({ header, traces }: SyntheticBlock): SyntheticBlock => {
      const first = traces.findIndex(({ type }) => type === 'call');
      const large = traces.map((trace, i) =>
        i === first && trace.type === 'call' ? { ...trace, action: { ...trace.action, input } } : trace,
      );
      return { header, traces: large };
    };
    let [underWay, most] = [0, 0];
    const large = {
      async block(number: number) {
        most = number > 8 ? Math.max(most, ++underWay) : most;
        await nextTurn();
        if (number > 8) underWay--;
        const block = chain[number];
        return block && withInput(block);
      },
    } as Partial<TraceProvider> as TraceProvider; // no other method is called
    const largest: number[] = [];
    const { signal } = new AbortController();
    for await (const blocks of fetchBlocks(range(0, 20), { store: {}, source: large, signal }))
      largest.push(blocks.filter(({ chunks }) => chunks.some(({ length }) => length > bytes)).length);
    expect(largest.reduce((sum, count) => sum + count)).toBeGreaterThan(15);
    expect(Math.max(...largest)).toBe(7);
    expect(most).toBeLessThanOrEqual(3);
  });
});
