import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FinalityError, Indexer } from '../../src/ethereum/ingest/index.ts';
import type { Finality, HeadBlock, NodeHeads, TracedBlock } from '../../src/ethereum/nodes/index.ts';
import { openTraceStore } from '../../src/ethereum/store/lmdb/traces/index.ts';
import type { Hash, TraceStore } from '../../src/ethereum/traces/index.ts';
import { Random } from '../support/random.ts';
import { syntheticAddresses, syntheticBlock } from '../support/syntheticChain.ts';
import { until } from '../support/until.ts';

const GENESIS = `0x${'9'.repeat(64)}` as Hash; // 32 bytes
const HEAD = 1_500;

/** Fake node with deep reorganisations, without finality or below its final block, unlike the real test nodes. */
class RevertedNode {
  readonly knownHeads = undefined;
  readonly #random = new Random(5);
  readonly #shape = { addresses: syntheticAddresses(4), maxTransactions: 2, maxFrames: 2 };
  #blocks: TracedBlock[] = [];
  finalized: number | undefined;

  readonly chainId: number;

  constructor(chainId: number) {
    this.chainId = chainId;
    this.grow(HEAD);
  }

  get head(): number {
    return this.#blocks.length - 1;
  }

  grow(to: number): void {
    while (this.head < to)
      this.#blocks.push(
        syntheticBlock(this.#random, this.#shape, {
          number: this.#blocks.length,
          parentHash: this.#blocks.at(-1)?.header.hash,
        }),
      );
  }

  /** Reverts to the block `last` and grows another branch up to `to`. */
  revert(last: number, to = last): void {
    this.#blocks = this.#blocks.slice(0, last + 1);
    this.grow(to);
  }

  hash = (number: number) => this.#blocks[number]?.header.hash;
  #ref(number: number): HeadBlock {
    return this.#blocks[number]?.header as HeadBlock; // callers pass existing blocks
  }

  chain = async () => ({ chainId: this.chainId, genesisHash: GENESIS });
  block = async (number: number) => this.#blocks[number];
  blockRef = async (number: number) => this.#blocks[number]?.header;
  heads = async (): Promise<NodeHeads> => ({
    latest: this.#ref(this.head),
    ...(this.finalized !== undefined && { finalized: this.#ref(this.finalized) }),
  });
  freshHeads = () => this.heads();
}

describe('the index of a reverted chain', () => {
  let folder: string;
  let store: TraceStore;
  let indexer: Indexer | undefined;
  const failures: unknown[] = [];
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'floodgate-stale-'));
    store = openTraceStore(folder);
    failures.length = 0;
  });
  afterEach(async () => {
    await indexer?.stop();
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  });

  function follow(node: RevertedNode, finality?: Finality): Indexer {
    const nothing = () => undefined;
    const observer = {
      indexed: nothing,
      reorganised: nothing,
      failed: (error: unknown) => failures.push(error),
      recovered: nothing,
      filled: nothing,
      evicted: nothing,
      unavailable: nothing,
      available: nothing,
      gapClosed: nothing,
      repaired: nothing,
    };
    const options = { pollIntervalMs: 10, ...(finality && { finality }) };
    indexer = new Indexer(options, { store, source: node, observer });
    indexer.start();
    return indexer;
  }

  const followed = (node: RevertedNode) =>
    until('the head of the node to be indexed', async () => {
      const head = await store.head();
      return head?.number === node.head && head.hash === node.hash(node.head);
    });

  /** Checks that every indexed block is a block of the node. */
  async function expectOneChain(node: RevertedNode): Promise<void> {
    for (
      let block = await store.lastBlock(node.head);
      block;
      block = await store.lastBlock(block.number - 1)
    ) {
      expect(`${block.number} ${block.hash}`).toBe(`${block.number} ${node.hash(block.number)}`);
      if (block.number === 0) return;
    }
  }

  it('contains no block of the old branch below a gap if no block is final', async () => {
    const node = new RevertedNode(1);
    const followedBy = follow(node);
    await followed(node);
    for (const single of [100, 120, 121, 300]) await followedBy.ensure(single, single);
    node.revert(110, HEAD + 20);
    await followed(node);
    await expectOneChain(node);
    expect([100, 120, 121, 300].map((number) => store.block(number) !== undefined)).toEqual([
      true,
      false,
      false,
      false,
    ]);
  });

  it('continues from the head and fetches removed blocks only on demand', async () => {
    const node = new RevertedNode(1);
    const followedBy = follow(node);
    await followed(node);
    await followedBy.ensure(100, 100);
    node.revert(50, HEAD + 20);
    await followed(node);
    expect(await store.firstMissing(60, HEAD)).toBe(60);
    expect(await store.firstMissing(HEAD + 20 - 799, HEAD + 20)).toBeUndefined();
    await followedBy.ensure(100, 100);
    await expectOneChain(node);
  });

  it('follows a development chain reverted below its final block', async () => {
    const node = new RevertedNode(31_337);
    node.finalized = HEAD - 64;
    follow(node);
    await followed(node);
    node.finalized = HEAD - 300;
    node.revert(HEAD - 200, HEAD - 190);
    await until('the shorter chain to be indexed', async () => {
      const block = await store.block(node.head);
      return block?.hash === node.hash(node.head);
    });
    node.grow(HEAD + 10);
    await followed(node);
    await expectOneChain(node);
    expect(failures).toEqual([]);
  });

  it('rejects a revert below the final block on a real network and names the remedy', async () => {
    const node = new RevertedNode(1);
    node.finalized = HEAD - 64;
    follow(node);
    await followed(node);
    await until('the final block to be known', () => store.finalizedNumber());
    node.finalized = undefined;
    node.revert(HEAD - 200, HEAD + 10);
    await until('the failure', () => failures.length > 0);
    expect(failures[0]).toBeInstanceOf(FinalityError);
    expect(String(failures[0])).toMatch(/floodgate index --rewind BLOCK/);
    expect((await store.head())?.number).toBe(HEAD);
  });

  it('treats blocks at a configured depth as final', async () => {
    const node = new RevertedNode(31_337);
    follow(node, { depth: 100 });
    await followed(node);
    await until('blocks to be final', async () => (await store.finalizedNumber()) === HEAD - 100);
    node.revert(HEAD - 90, HEAD + 1);
    await followed(node);
    expect(failures).toEqual([]);
    node.revert(HEAD - 150, HEAD + 20);
    await until('the finality failure', () => failures.some((error) => error instanceof FinalityError));
  });
});
