import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { TraceFeed } from '../../src/ethereum/gateway/index.ts';
import {
  type ChainSource,
  type HeadChange,
  Indexer,
  type IndexerObserver,
} from '../../src/ethereum/ingest/index.ts';
import { NodeError, type NodeHeads } from '../../src/ethereum/nodes/index.ts';
import {
  type ChainIdentity,
  type Hash,
  type HistoryQuery,
  MAX_RANGE_BLOCKS,
  type Trace,
} from '../../src/ethereum/traces/index.ts';
import { historyBlock } from '../support/historyBlock.ts';
import { referenceHistory } from '../support/plainHistory.ts';
import { Random } from '../support/random.ts';
import { type SyntheticBlock, syntheticAddresses } from '../support/syntheticChain.ts';
import { until } from '../support/until.ts';
import { lmdbTraces } from './lmdbTraces.ts';

const SEED = Number(process.env['FLOODGATE_TEST_SEED'] ?? 16);
const STEPS = 40;
const FIRST_BLOCK = 20;

const ADDRESSES = syntheticAddresses(12);
const SILENT: IndexerObserver = {
  indexed: () => undefined,
  reorganised: () => undefined,
  failed: () => undefined,
  recovered: () => undefined,
  filled: () => undefined,
  evicted: () => undefined,
  unavailable: () => undefined,
  available: () => undefined,
  gapClosed: () => undefined,
  repaired: () => undefined,
};
const CHAIN: ChainIdentity = { chainId: 31337, genesisHash: `0x${'11'.repeat(32)}` as Hash }; // 32 bytes

/** A fake chain that changes and fails on request while it is followed; a real node cannot do that. */
class MovingChain implements ChainSource {
  readonly random: Random;
  blocks: SyntheticBlock[] = [];
  fails = false;

  constructor(random: Random) {
    this.random = random;
    this.grow(FIRST_BLOCK);
  }

  grow(count: number): void {
    for (let i = 0; i < count; i++)
      this.blocks.push(
        historyBlock(this.random, ADDRESSES, {
          number: this.blocks.length,
          parentHash: this.blocks.at(-1)?.header.hash,
        }),
      );
  }

  replace(count: number, by: number): void {
    this.blocks = this.blocks.slice(0, Math.max(FIRST_BLOCK / 2, this.blocks.length - count));
    this.grow(by);
  }

  traces({ from }: { from: number }): Trace[] {
    return this.blocks.slice(from).flatMap(({ traces }) => traces);
  }

  get knownHeads(): NodeHeads {
    const header = this.blocks.at(-1)?.header;
    if (header === undefined) throw new Error('the chain has no block');
    return { latest: { number: header.number, hash: header.hash, parentHash: header.parentHash } };
  }

  chain = () => this.#reported(() => CHAIN);
  heads = () => this.#reported(() => this.knownHeads);
  freshHeads = () => this.#reported(() => this.knownHeads);
  blockRef = (number: number) => this.#reported(() => this.blocks[number]?.header);
  block = (number: number) => this.#reported(() => this.blocks[number]);

  async #reported<T>(answer: () => T): Promise<T> {
    await nextTurn();
    if (this.fails && this.random.chance(0.01)) throw new NodeError('unreachable', 'the node is unreachable');
    return answer();
  }
}

/** A subscriber, and the messages that it should receive according to the changes of the index. */
class Listener {
  readonly reported: (Trace & { readonly removed: boolean })[] = [];
  readonly expected: (Trace & { readonly removed: boolean })[] = [];
  /** The received traces that are not removed. */
  standing: Trace[] = [];
  missed = 0;
  end: () => void = () => undefined;
  readonly wanted: Pick<HistoryQuery, 'direction' | 'filter'> & { readonly addresses: typeof ADDRESSES };

  constructor(wanted: Listener['wanted']) {
    this.wanted = wanted;
  }

  readonly sink = {
    client: '192.0.2.1',
    push: (text: string): void => void this.reported.push(JSON.parse(text)),
    missed: (): void => void this.missed++,
  };

  happened(undoFrom: number | undefined, added: readonly SyntheticBlock[]): void {
    const stays = this.standing.filter(
      ({ blockNumber }) => blockNumber < (undoFrom ?? Number.POSITIVE_INFINITY),
    );
    for (const trace of this.standing.slice(stays.length).reverse())
      this.expected.push({ ...trace, removed: true });
    const isNew = this.all(added.flatMap(({ traces }) => traces));
    this.expected.push(...isNew.map((trace) => ({ ...trace, removed: false })));
    this.standing = [...stays, ...isNew];
  }

  /** Returns the wanted traces. */
  all(traces: readonly Trace[]): Trace[] {
    const range = { fromBlock: 0, toBlock: Number.MAX_SAFE_INTEGER };
    return referenceHistory(traces, { ...this.wanted, order: 'asc' }, range);
  }
}

describe(`traces that are pushed while a chain is followed, seed ${SEED}`, () => {
  const random = new Random(SEED);
  let close: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const one of close.reverse()) await one();
    close = [];
  });

  const wanted = (): Listener['wanted'] => ({
    addresses: Array.from({ length: random.between(1, 3) }, () => random.pick(ADDRESSES)),
    direction: random.pick(['from', 'to', 'either']),
    filter: {
      ...(random.chance(0.3) && { kinds: [random.pick(['call', 'create', 'suicide', 'reward'])] }),
      ...(random.chance(0.3) && { minValue: random.pick([1n, 2n ** 19n, 2n ** 59n, 2n ** 254n]) }),
      ...(random.chance(0.3) && { internal: random.chance(0.5) }),
      ...(random.chance(0.3) && { failed: random.chance(0.5) }),
    },
  });

  it('equal those of a plain filter, each once and in order, through reorganisations and failures of the node', async () => {
    const chain = new MovingChain(random);
    const folder = await lmdbTraces();
    const store = await folder.open();
    const blocksByHash = new Map<string, SyntheticBlock>();
    const inTurns = async (work: Generator<void>): Promise<void> => {
      for (const _ of work) if (random.chance(0.02)) await nextTurn();
    };
    const feed = new TraceFeed({ find: inTurns, deliver: inTurns });
    const listeners = new Set<Listener>();
    let heard: string | undefined;
    const followed = (change: HeadChange): void => {
      const added = change.blocks.map(({ block }) => blocksByHash.get(block.hash) as SyntheticBlock); // kept below
      heard = change.blocks.at(-1)?.block.hash;
      for (const listener of listeners) listener.happened(change.undoFrom, added);
      feed.indexChanged(change);
    };
    const indexer = new Indexer(
      { pollIntervalMs: 5, finality: 'none', fromBlock: 0 },
      { store, source: chain, observer: SILENT, followed },
    );
    close = [() => folder.remove(), () => store.close(), () => indexer.stop()];
    const keep = (): void => {
      for (const block of chain.blocks) blocksByHash.set(block.header.hash, block);
    };
    const settled = () =>
      until('the index to reach the head and to report it', () => chain.blocks.at(-1)?.header.hash === heard);
    const subscribe = (what: Listener['wanted']): Listener => {
      const listener = new Listener(what);
      listener.end = feed.add(what, listener.sink).end;
      listeners.add(listener);
      return listener;
    };

    keep();
    indexer.start();
    await settled();
    const base = chain.blocks.length;
    const everything = subscribe({ addresses: ADDRESSES, direction: 'either', filter: {} });
    const all: Listener[] = [everything];
    chain.fails = true;
    for (let step = 0; step < STEPS; step++) {
      if (random.chance(0.5)) chain.grow(random.between(1, 4));
      else chain.replace(Math.min(random.between(1, 8), chain.blocks.length - base), random.between(1, 9));
      keep();
      indexer.headChanged();
      if (random.chance(0.6)) all.push(subscribe(wanted()));
      if (random.chance(0.3) && all.length > 1) {
        const ended = random.pick(all.slice(1));
        ended.end();
        listeners.delete(ended);
      }
      if (random.chance(0.5)) await settled();
      else for (let turns = random.below(20); turns > 0; turns--) await nextTurn();
    }
    chain.fails = false;
    chain.grow(1);
    keep();
    await settled();
    await until('all subscribers to receive their traces', () =>
      [...listeners].every(({ reported, expected }) => reported.length === expected.length),
    );
    for (const listener of listeners) expect(listener.reported).toEqual(listener.expected);
    // Apart from removed traces, the subscriber received exactly those of the current chain.
    expect(everything.standing).toEqual(everything.all(chain.traces({ from: base })));
    expect(everything.reported.filter(({ removed }) => removed).length).toBeGreaterThan(0);
    // Ended subscriptions received nothing after their end.
    for (const { reported, expected } of all) expect(reported).toEqual(expected.slice(0, reported.length));
    expect(all.reduce((sum, { missed }) => sum + missed, 0)).toBe(0);
  });

  it('do not include older blocks that are filled in later', async () => {
    const chain = new MovingChain(random);
    chain.grow(MAX_RANGE_BLOCKS);
    const folder = await lmdbTraces();
    const store = await folder.open();
    const atOnce = async (work: Generator<void>): Promise<void> => void [...work];
    const feed = new TraceFeed({ find: atOnce, deliver: atOnce });
    let heard: number | undefined;
    const followed = (change: HeadChange): void => {
      heard = change.blocks.at(-1)?.block.number ?? heard;
      feed.indexChanged(change);
    };
    const indexer = new Indexer(
      { pollIntervalMs: 5, finality: { depth: 10 } },
      { store, source: chain, observer: SILENT, followed },
    );
    close = [() => folder.remove(), () => store.close(), () => indexer.stop()];
    indexer.start();
    await until('the index to reach the head and to report it', () => heard === chain.blocks.length - 1);
    const listener = new Listener({ addresses: ADDRESSES, direction: 'either', filter: {} });
    feed.add(listener.wanted, listener.sink);
    expect(await store.firstMissing(5, 9)).toBe(5);
    await indexer.ensure(5, 9);
    expect(await store.firstMissing(5, 9)).toBeUndefined();
    const behind = chain.blocks.length;
    chain.grow(5);
    const isNew = listener.all(chain.traces({ from: behind }));
    await until('the new traces to be pushed', () => listener.reported.length === isNew.length);
    expect(listener.reported).toEqual(isNew.map((trace) => ({ ...trace, removed: false })));
  });
});
