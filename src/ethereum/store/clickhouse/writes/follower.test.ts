import { describe, expect, it } from 'vitest';
import { type Hash, type IndexedBlock, type StoredBlock, WrongChainError } from '../../../traces/index.ts';
import { LeaseHeldElsewhere } from '../connection/failures.ts';
import { IndexFollower } from './follower.ts';

const hashOf = (number: number, fork = 0): Hash =>
  `0x${(number * 16 + fork).toString(16).padStart(64, '0')}` as Hash; // 32 bytes as digits
const blockAt = (number: number, fork = 0): StoredBlock => ({
  ...{ number, hash: hashOf(number, fork), parentHash: hashOf(number - 1, fork) },
  ...{ timestamp: number, traceCount: 0 },
});
const indexed = (...blocks: StoredBlock[]): IndexedBlock[] =>
  blocks.map((block) => ({ block, chunks: [], postings: [] }) as unknown as IndexedBlock); // the follower does not read the rows

/** Blocks that another instance has written. */
class Written {
  readonly chain: StoredBlock[] = [];
  looks = 0;
  /** Block that the other instance adds at a given poll number. */
  readonly later = new Map<number, StoredBlock>();

  identity = async () => ({ chainId: 1, genesisHash: hashOf(0) });
  lastBlock = async () => this.chain.at(-1);
  firstMissing = async (from: number) =>
    this.chain.some(({ number }) => number === from) ? undefined : from;
  blocks = async (numbers: readonly number[]) => {
    const next = this.later.get(++this.looks);
    if (next !== undefined) this.chain.push(next);
    return this.chain.filter(({ number }) => numbers.includes(number));
  };
}

const FOR_EVER_MS = 3_600_000;

describe('an instance that never writes the index', () => {
  it('resolves a change when the writing instance has made it', async () => {
    const written = new Written();
    written.later.set(3, blockAt(7));
    const follower = new IndexFollower({ maxWaitMs: FOR_EVER_MS }, written);
    await follower.apply({ blocks: indexed(blockAt(7)) });
    expect(written.looks).toBe(3);
    await follower.apply({ blocks: [], finalizedNumber: 7 });
    await follower.apply({ blocks: [], undoFrom: 8 });
    await follower.close();
  });

  it('times out once if the writing instance makes no change, and rejects the next change at once', async () => {
    const written = new Written();
    const follower = new IndexFollower({ maxWaitMs: 1 }, written);
    const change = { blocks: indexed(blockAt(7)) };
    await expect(follower.apply(change)).rejects.toThrow(LeaseHeldElsewhere);
    const { looks } = written;
    await expect(follower.apply(change)).rejects.toThrow('has not reached block 7');
    expect(written.looks).toBe(looks + 1);
    written.chain.push(blockAt(7));
    await follower.apply(change);

    const patient = new IndexFollower({ maxWaitMs: FOR_EVER_MS }, new Written());
    const waiting = expect(patient.apply(change)).rejects.toThrow(LeaseHeldElsewhere);
    await patient.close();
    await waiting;
  });

  it('rejects a block that the index has from another fork, and does not wait for a skipped block', async () => {
    const written = new Written();
    written.chain.push(blockAt(7, 1));
    const follower = new IndexFollower({ maxWaitMs: 0 }, written);
    await expect(follower.apply({ undoFrom: 7, blocks: indexed(blockAt(7)) })).rejects.toThrow('block 7');
    await expect(follower.apply({ undoFrom: 7, blocks: [] })).rejects.toThrow('block 7');
    const past = new IndexFollower({ maxWaitMs: FOR_EVER_MS }, written);
    await expect(past.apply({ blocks: indexed(blockAt(3)) })).rejects.toThrow('block 3');
  });

  it('does not wait for a block that the index has without traces, unless the change has none either', async () => {
    const written = new Written();
    const unavailable = { ...blockAt(7), unavailable: 'timeout' } as const;
    written.chain.push(unavailable);
    const follower = new IndexFollower({ maxWaitMs: FOR_EVER_MS }, written);
    await follower.apply({ blocks: indexed(unavailable) });
    await expect(follower.apply({ blocks: indexed(blockAt(7)) })).rejects.toThrow('block 7');
    written.chain[0] = blockAt(7);
    await follower.apply({ blocks: indexed(blockAt(7)) });
    await follower.apply({ blocks: indexed(unavailable) });
  });

  it('does not set the chain of an index, and rejects another chain', async () => {
    const follower = new IndexFollower({}, new Written());
    await follower.bind({ chainId: 1, genesisHash: hashOf(0) });
    await expect(follower.bind({ chainId: 2, genesisHash: hashOf(0) })).rejects.toThrow(WrongChainError);
  });
});
