import { describe, expect, it } from 'vitest';
import { until } from '../../../test/support/until.ts';
import type { TraceProvider } from '../nodes/index.ts';
import type { Hash, IndexedBlock, StoredBlock } from '../traces/index.ts';
import { SharedFiller, type SharedFillerDependencies, type SharedIndex } from './sharedFiller.ts';

const hashOf = (number: number): Hash => `0x${(number + 1).toString(16).padStart(64, '0')}` as Hash; // 32 bytes

/** A node with a chain of empty blocks. */
const source = {
  block: async (number: number) => ({
    header: {
      number,
      hash: hashOf(number),
      parentHash: hashOf(number - 1),
      timestamp: 1,
      transactionHashes: [],
    },
    traces: [],
  }),
} as Partial<TraceProvider> as TraceProvider; // the filler calls no other method

/** The shared index in memory. */
class Shared implements SharedIndex {
  readonly blocks = new Map<number, StoredBlock>();
  readonly writes: number[][] = [];
  failures = 0;

  lastBlock = async (upTo: number) =>
    [...this.blocks.values()].filter(({ number }) => number <= upTo).sort((a, b) => b.number - a.number)[0];
  firstMissing = async (from: number, to: number) => {
    for (let number = from; number <= to; number++) if (!this.blocks.has(number)) return number;
    return undefined;
  };
  unavailable = async () => [];
  write = async (blocks: readonly IndexedBlock[]) => {
    if (this.failures-- > 0) throw new Error('away');
    const added = blocks.filter(({ block }) => !this.blocks.has(block.number));
    for (const { block } of added) this.blocks.set(block.number, block);
    this.writes.push(added.map(({ block }) => block.number));
    return added.length;
  };
}

/** Runs a filler until it would pause for the `pauses`-th time. `between` is called at each pause. */
async function fill(
  shared: Shared,
  {
    fromBlock,
    final,
    between,
  }: { fromBlock?: number; final: () => number; between: (pause: number) => number },
): Promise<unknown[]> {
  const stop = new AbortController();
  const errors: unknown[] = [];
  let [nowMs, pauses] = [0, 0];
  const dependencies: SharedFillerDependencies = {
    shared: () => shared,
    source,
    signal: stop.signal,
    nowMs: () => nowMs,
    finalNumber: () => {
      nowMs += between(pauses++);
      if (pauses > 200) stop.abort();
      return final();
    },
    written: () => undefined,
    failed: (error) => errors.push(error),
    recovered: () => undefined,
  };
  const filler = new SharedFiller({ fromBlock, pollIntervalMs: 1, othersMs: 100 }, dependencies);
  const running = filler.run();
  await until(
    'all blocks, or the end of the filler',
    async () => stop.signal.aborted || (await shared.firstMissing(fromBlock ?? 0, final())) === undefined,
  );
  stop.abort();
  await running;
  return errors;
}

describe('a server that fills the shared index', () => {
  it('writes aligned runs of 64 blocks after it has waited for other servers once', async () => {
    const shared = new Shared();
    await fill(shared, { fromBlock: 10, final: () => 200, between: (pause) => (pause < 4 ? 40 : 0) });
    expect(shared.writes.map((numbers) => [numbers[0], numbers.at(-1)])).toEqual([
      [10, 63],
      [64, 127],
      [128, 191],
      [192, 200],
    ]);
  });

  it('continues after the highest block of the shared index if no first block is set', async () => {
    const shared = new Shared();
    const { header } = (await source.block(5)) ?? {};
    if (header !== undefined) shared.blocks.set(5, { ...header, traceCount: 0 });
    for (let number = 0; number < 5; number++)
      shared.blocks.set(number, { ...shared.blocks.get(5), number } as StoredBlock);
    await fill(shared, { final: () => 8, between: () => 60 });
    expect(shared.writes).toEqual([[6, 7, 8]]);
  });

  it('leaves the blocks to another server while that server writes them', async () => {
    const shared = new Shared();
    let final = 0;
    await fill(shared, {
      fromBlock: 0,
      final: () => final,
      between: (pause) => {
        // The other server writes each block 50 ms after it is final, until it stops.
        if (pause < 20) {
          if (final >= 0) shared.blocks.set(final, { number: final } as StoredBlock);
          final++;
        }
        return 50;
      },
    });
    expect(shared.writes).toEqual([[20]]);
  });

  it('repeats a write that failed', async () => {
    const shared = new Shared();
    shared.failures = 1;
    const errors = await fill(shared, { fromBlock: 0, final: () => 3, between: () => 200 });
    expect(errors).toHaveLength(1);
    expect(shared.writes).toEqual([[0, 1, 2, 3]]);
  });
});
