import { setImmediate as nextTurn } from 'node:timers/promises';
import { SerialQueue } from '../../../../platform/serialQueue/index.ts';
import {
  AnswerTooLargeError,
  type Awaitable,
  blockAt,
  type ChainIdentity,
  findFrame,
  firstTraceFrom,
  type Hash,
  type HistoryPage,
  type HistoryPlace,
  type HistoryQuery,
  type HistorySummary,
  type IndexChange,
  type InternalTransactionsPage,
  type InternalTransactionsQuery,
  JsonWriter,
  readInternalTransactions,
  type StoredBlock,
  type SummaryQuery,
  segmentOf,
  summarizeHistory,
  TextCache,
  TRACES_PER_CHUNK,
  type Trace,
  type TraceFilter,
  type TraceReader,
  type TraceStore,
  type TransactionLimits,
  termOf,
  traceIndexAt,
  tracesOfBlock,
  transactionPositionOf,
  type Visitor,
  WrongChainError,
  writeTrace,
} from '../../../traces/index.ts';
import { AnswerWriter } from './answerWriter.ts';
import { carryOutUpgrade, type UpgradeObserver } from './carryOutUpgrade.ts';
import { makeDictionary } from './dictionary.ts';
import { LmdbHistoryReader } from './directory/historyReader.ts';
import { DirectoryUpkeep } from './directory/upkeep.ts';
import { writeHistory } from './directory/writeHistory.ts';
import { NO_DICTIONARY, TraceEnvironment, type TraceFormat } from './environment.ts';
import { FilterAnswers, type FilterAnswersOptions } from './filterAnswers.ts';
import { IndexState } from './indexState.ts';
import { LISTS_PER_MERGE, mergeRecent } from './mergeRecent.ts';
import { encodeChain } from './records.ts';
import { Turns } from './turns.ts';
import { WriteBatch } from './writeBatch.ts';
import { type BlockRun, TRACES_PER_SLICE, writeInSlices } from './writeInSlices.ts';
import { Writes } from './writes.ts';

/** A dictionary is made anew after so many segments: the addresses in use on a chain change over weeks. */
const SEGMENTS_PER_DICTIONARY = 128;

/** Memory for traces in recent use where nothing else is asked for. */
const DEFAULT_CACHE_BYTES = 80 * 1024 * 1024;

/**
 * Positions of recent blocks that are held in memory, at some 30 bytes each, before they are merged into the lists on disk:
 * those of 120 mainnet blocks. Each merge writes nearly all lists of the segment anew, and whoever opens the index works
 * them out again for the first operation that needs them, which takes a fifth of a second.
 */
const MAX_RECENT_POSITIONS = 2 ** 18;

export interface TraceStoreOptions extends FilterAnswersOptions {
  readonly cacheBytes?: number;
  readonly maxRecentPositions?: number;
  readonly listsPerMerge?: number;
  readonly upgrade?: UpgradeObserver;
  /** Left out: the one that this program writes. */
  readonly format?: TraceFormat | undefined;
}

/** An index that another process writes. */
export interface LmdbTraceReader extends TraceReader {
  /** What is read from now on is of no older commit than the last one of now, and no block above this one is its head. */
  refresh(shownHead: number): void;
}

/** The index of traces in an LMDB environment in the folder `path`. */
export function openTraceStore(path: string, options: TraceStoreOptions = {}): TraceStore {
  return new LmdbTraceStore(TraceEnvironment.open(path, { format: options.format }), options);
}

/**
 * The same to read only, beside the process that writes it: what that one commits is seen, and nothing is ever written.
 * Throws NoIndexError where there is none.
 */
export function openTraceReader(path: string, options: TraceStoreOptions = {}): LmdbTraceReader {
  return new LmdbTraceStore(
    TraceEnvironment.open(path, { readOnly: true, format: options.format }),
    options,
    true,
  );
}

export class LmdbTraceStore implements TraceStore {
  readonly #environment: TraceEnvironment;
  readonly #json = new JsonWriter();
  readonly #state: IndexState;
  readonly #texts: TextCache;
  readonly #answers: AnswerWriter;
  readonly #filters: FilterAnswers;
  readonly #turns = new Turns();
  /** The epoch of the state that the kept texts are of. */
  #epoch = 0;
  /** Changes are worked out one after the other, each from the state before. */
  readonly #changes = new SerialQueue();
  readonly #history: LmdbHistoryReader;
  /** Undefined where this process only reads. */
  readonly #upkeep: DirectoryUpkeep | undefined;
  readonly #isReader: boolean;
  #shownHead = Number.POSITIVE_INFINITY;
  /** Of a reader: the changes by which the dictionaries were opened that there are. */
  #dictionariesAt: number | undefined;
  /** Ends when the upgrade does, or is given up: then it goes on with the next start. */
  #upgrading: Promise<void> = Promise.resolve();
  #isClosing = false;
  readonly #maxRecentPositions: number;
  readonly #listsPerMerge: number;

  constructor(environment: TraceEnvironment, options: TraceStoreOptions, isReader = false) {
    const { cacheBytes = DEFAULT_CACHE_BYTES } = options;
    this.#isReader = isReader;
    this.#maxRecentPositions = options.maxRecentPositions ?? MAX_RECENT_POSITIONS;
    this.#listsPerMerge = options.listsPerMerge ?? LISTS_PER_MERGE;
    this.#environment = environment;
    this.#state = new IndexState(environment);
    this.#texts = new TextCache(cacheBytes);
    this.#answers = new AnswerWriter(this.#state, this.#texts);
    this.#filters = new FilterAnswers(options, {
      current: () => this.#current(),
      answers: this.#answers,
      turns: this.#turns,
      json: this.#json,
    });
    this.#history = new LmdbHistoryReader(environment, this.#state);
    if (isReader) return;
    // Only this process writes.
    this.#state.setWriting(false);
    this.#upkeep = new DirectoryUpkeep({
      environment,
      state: () => this.#current(),
      inTurn: (step) => this.#changes.run(async () => step()),
      commit: (writes) => this.#commit(() => writes.carryOut(), { isFlushed: false }),
    });
    this.#upkeep.wake();
    const { upgrade } = environment;
    if (upgrade?.progress === undefined) return;
    this.#upgrading = carryOutUpgrade(upgrade, {
      commit: (step) => this.#changes.run(() => this.#commit(step, { isFlushed: false })),
      isClosing: () => this.#isClosing,
      observer: options.upgrade,
    });
  }

  chain(): ChainIdentity | undefined {
    return this.#current().chain();
  }

  bindChain(identity: ChainIdentity): Promise<void> {
    return this.#changes.run(async () => {
      const held = this.chain();
      if (held === undefined) {
        const writes = new Writes();
        writes.put(this.#environment.meta, Buffer.from('chain'), encodeChain(identity));
        await this.#commit(() => writes.carryOut());
      } else if (held.chainId !== identity.chainId || held.genesisHash !== identity.genesisHash) {
        throw new WrongChainError(held, identity);
      }
    });
  }

  head(): StoredBlock | undefined {
    const head = this.#current().head();
    if (head === undefined || head.number <= this.#shownHead) return head;
    return this.#shownHead < 0 ? undefined : (this.#state.block(this.#shownHead) ?? head);
  }

  refresh(shownHead: number): void {
    this.#shownHead = shownHead;
    this.#environment.root.resetReadTxn();
  }

  finalizedNumber(): number | undefined {
    return this.#current().finalizedNumber();
  }

  block(blockNumber: number): StoredBlock | undefined {
    return this.#current().block(blockNumber);
  }

  lastBlock(upTo: number): StoredBlock | undefined {
    return this.#current().lastBlock(upTo);
  }

  firstMissing(fromBlock: number, toBlock: number): number | undefined {
    return this.#current().firstMissing(fromBlock, toBlock);
  }

  filter(filter: TraceFilter, maxBytes: number, json?: JsonWriter): Awaitable<Buffer | undefined> {
    return this.#filters.filter(filter, { maxBytes, json });
  }

  blockTraces(blockNumber: number, maxBytes: number): Awaitable<Buffer | undefined> {
    const block = this.#current().block(blockNumber);
    if (block === undefined) return undefined;
    return this.#run({ block, first: 0, end: block.traceCount }, maxBytes);
  }

  transactionTraces(hash: Hash, { maxBytes, upTo }: TransactionLimits): Awaitable<Buffer | undefined> {
    const root = this.#findTransaction(hash, upTo);
    if (root === undefined) return undefined;
    const { block, index, transactionPosition } = root;
    const next = { transactionPosition: transactionPosition + 1, traceAddress: [] };
    const end = firstTraceFrom(this.#chunksOf(block), { first: index + 1, end: block.traceCount }, next);
    return this.#run({ block, first: index, end }, maxBytes);
  }

  transactionTrace(
    hash: Hash,
    traceAddress: readonly number[],
    { maxBytes, upTo }: TransactionLimits,
  ): Buffer | null | undefined {
    const root = this.#findTransaction(hash, upTo);
    if (root === undefined) return undefined;
    const { block, index, transactionPosition } = root;
    const readChunk = this.#chunksOf(block);
    const place = { transactionPosition, traceAddress };
    const found = findFrame(readChunk, { first: index, end: block.traceCount }, place);
    if (found === undefined) return null;
    this.#json.reset();
    writeTrace(this.#json, readChunk(found), found % TRACES_PER_CHUNK, block.number);
    if (this.#json.textBytes > maxBytes) throw new AnswerTooLargeError(maxBytes);
    return this.#json.copy();
  }

  addressTraces(query: HistoryQuery, maxBytes: number, json: JsonWriter): HistoryPage {
    this.#current();
    return writeHistory({ reader: this.#history, answers: this.#answers }, query, { json, maxBytes });
  }

  addressSummary(query: SummaryQuery): HistorySummary {
    this.#current();
    return summarizeHistory(this.#history, query);
  }

  internalTransactions(query: InternalTransactionsQuery): InternalTransactionsPage {
    this.#current();
    return readInternalTransactions(this.#history, query);
  }

  transactionPlace(hash: Hash, { upTo }: Pick<TransactionLimits, 'upTo'>): HistoryPlace | undefined {
    const root = this.#findTransaction(hash, upTo);
    return root && { blockNumber: root.block.number, traceIndex: root.index, blockHash: root.block.hash };
  }

  #run(run: BlockRun, maxBytes: number): Awaitable<Buffer | undefined> {
    const { block, first, end } = run;
    if (end - first <= TRACES_PER_SLICE) return this.#runAtOnce(run, maxBytes);
    const isThere = (): boolean => this.#current().block(block.number)?.hash === block.hash;
    return writeInSlices(this.#answers, run, { maxBytes, turns: this.#turns, isThere });
  }

  #runAtOnce({ block, first, end }: BlockRun, maxBytes: number): Buffer {
    const list = tracesOfBlock(block.number, block.traceCount);
    return this.#array(maxBytes, (visitor) => visitor.run(segmentOf(block.number), { list, first, end }));
  }

  apply(change: IndexChange): Promise<void> {
    const applied = this.#changes.run(async () => {
      await this.#mergeIfOver(2 * this.#maxRecentPositions);
      const dictionary = await this.#dictionaryFor(change);
      const batch = new WriteBatch(
        { change, dictionary },
        {
          environment: this.#environment,
          state: this.#current(),
          readTraces: (block) => this.tracesOf(block),
        },
      );
      this.#state.recent.stage(change.blocks);
      this.#upkeep?.changed(batch.changedSegments);
      await this.#commit(() => batch.write()).finally(() => this.#state.recent.stage([]));
    });
    // Whoever waits for the change need not wait for this. Where it fails, a later change does it, or fails with it.
    this.#changes
      .run(() => this.#mergeIfOver(this.#maxRecentPositions))
      .then(() => this.#upkeep?.wake())
      .catch(() => undefined);
    return applied;
  }

  async #mergeIfOver(maxPositions: number): Promise<void> {
    if (this.#current().recent.size <= maxPositions) return;
    for (const { segment } of this.#state.unmerged()) await this.#merge(segment);
  }

  /** While some lists are written, the next ones are worked out. */
  async #merge(segment: number): Promise<void> {
    let committed: Promise<void> = Promise.resolve();
    const steps = mergeRecent(
      { segment, listsPerStep: this.#listsPerMerge },
      { environment: this.#environment, state: this.#current() },
    );
    for (const writes of steps) {
      await committed;
      committed = this.#commit(() => writes.carryOut(), { isFlushed: false });
      // Its failure is heard of when it is awaited.
      committed.catch(() => undefined);
      // Writing begins with the next turn of the event loop.
      await nextTurn();
    }
    await committed;
  }

  /**
   * The dictionary for segments that begin with this change: the newest one, or one made now where the chain may have
   * come to look different since that was made.
   */
  async #dictionaryFor({ blocks }: IndexChange): Promise<number> {
    const newest = this.#current().dictionary();
    const first = blocks[0]?.block.number ?? 0;
    const madeFor = newest?.madeForSegment ?? -Infinity;
    if (segmentOf(first) < madeFor + SEGMENTS_PER_DICTIONARY) return newest?.number ?? NO_DICTIONARY;
    const dictionary = makeDictionary(blocks);
    if (dictionary === undefined) return newest?.number ?? NO_DICTIONARY;
    const number = (newest?.number ?? NO_DICTIONARY) + 1;
    await this.#environment.addDictionary(number, dictionary, segmentOf(first));
    return number;
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    await this.#upgrading;
    await this.#upkeep?.stop();
    await this.#changes.idle();
    await this.#environment.close();
  }

  /** Writes in one transaction, waits until it is on disk unless that matters to nobody, and lets the next read see it. */
  async #commit(write: () => void, { isFlushed } = { isFlushed: true }): Promise<void> {
    const { root } = this.#environment;
    this.#state.setWriting(true);
    // An open read transaction keeps the pages of its state from being used again: the file would grow for nothing.
    root.resetReadTxn();
    try {
      this.#environment.assertInPlace();
      await this.#environment.commit(write);
      if (isFlushed) await root.flushed;
      // What went into a file that was removed meanwhile is not kept.
      this.#environment.assertInPlace();
    } finally {
      root.resetReadTxn();
      this.#state.setWriting(false);
    }
  }

  #array(maxBytes: number, visitAll: (visitor: Visitor) => void): Buffer {
    this.#answers.write(this.#json, maxBytes, visitAll);
    return this.#json.copy();
  }

  /** The state as it is now, for the synchronous code that follows. */
  #current(): IndexState {
    let { changes } = this.#state.refreshSnapshot();
    // A new dictionary comes with the change that needs it. Where one is opened another state is read from there on.
    while (this.#isReader && changes !== this.#dictionariesAt) {
      this.#dictionariesAt = changes;
      this.#environment.openDictionaries();
      ({ changes } = this.#state.refreshSnapshot());
    }
    if (this.#state.epoch !== this.#epoch) this.#texts.clear();
    this.#epoch = this.#state.epoch;
    return this.#state;
  }

  /** At once, however many they are: from the state that was looked at last. */
  tracesOf(block: StoredBlock): readonly Trace[] {
    const text = this.#runAtOnce({ block, first: 0, end: block.traceCount }, Number.POSITIVE_INFINITY);
    return JSON.parse(text.toString()) as Trace[]; // written from traces that were checked
  }

  /** The root frame of a transaction; newest segments first. */
  #findTransaction(hash: Hash, upTo = Number.POSITIVE_INFINITY): RootFrame | undefined {
    const state = this.#current();
    const head = state.head();
    if (head === undefined) return undefined;
    const hashBytes = Buffer.from(hash.slice(2), 'hex');
    for (let segment = segmentOf(Math.min(head.number, upTo)); segment >= 0; segment--) {
      const list = state.postings(segment, 'transaction', termOf(hash));
      for (let i = 0; list !== undefined && i < list.length; i++) {
        const position = list.at(i);
        const block = state.block(blockAt(segment, position));
        if (block === undefined || block.number > upTo) continue;
        const index = traceIndexAt(position);
        const chunk = state.chunk(block.number, index);
        const transactionPosition = transactionPositionOf(chunk, index % TRACES_PER_CHUNK, hashBytes);
        if (transactionPosition !== undefined) return { block, index, transactionPosition };
      }
    }
    return undefined;
  }

  #chunksOf({ number }: StoredBlock): (index: number) => Buffer {
    return (index) => this.#state.chunk(number, index);
  }
}

/** The root frame of a transaction: its block, its number among the block's traces, and its transaction's position. */
interface RootFrame {
  readonly block: StoredBlock;
  readonly index: number;
  readonly transactionPosition: number;
}
