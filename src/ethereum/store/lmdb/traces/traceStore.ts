import { setImmediate as afterPolling } from 'node:timers/promises';
import { SerialQueue } from '../../../../platform/serialQueue/index.ts';
import {
  AnswerTooLargeError,
  blockAt,
  type ChainIdentity,
  type CopyableIndex,
  type DamagedPart,
  type DecodeFrame,
  type EmbeddedTraceStore,
  type FilterOptions,
  type FramesPage,
  type FramesQuery,
  findFrame,
  firstTraceFrom,
  type Hash,
  type HistoryPage,
  type HistoryPosition,
  type HistoryQuery,
  type HistorySummary,
  type IndexChange,
  type IndexedBlock,
  type IndexRepair,
  indexChunks,
  JsonWriter,
  type MatchVisitor,
  type MaybePromise,
  type NextTurn,
  readFrames,
  type StoredBlock,
  type SummaryQuery,
  segmentOf,
  summarizeHistory,
  TextCache,
  TRACES_PER_CHUNK,
  type TraceFilter,
  type TransactionLimits,
  termOf,
  traceIndexAt,
  tracesOfBlock,
  transactionPositionOf,
  type UnavailableBlock,
  WrongChainError,
  writeTrace,
} from '../../../traces/index.ts';
import { makeDictionary } from './dictionary.ts';
import { LmdbHistoryReader } from './directory/historyReader.ts';
import { DirectoryUpkeep } from './directory/upkeep.ts';
import { writeHistory } from './directory/writeHistory.ts';
import { NO_DICTIONARY, TraceEnvironment } from './environment.ts';
import { FilterRunner, type FilterRunnerOptions } from './filterRunner.ts';
import { IndexState } from './indexState.ts';
import { LmdbOnDemandPart } from './lmdbOnDemandPart.ts';
import { encodeChain } from './records.ts';
import { repairIndex } from './repair/repairIndex.ts';
import { repairAtOpen } from './repair/repairSingles.ts';
import { TraceArrayWriter } from './traceArrayWriter.ts';
import { LISTS_PER_MERGE, mergeRecent } from './write/mergeRecent.ts';
import { WriteBatch } from './write/writeBatch.ts';
import { type BlockRun, TRACES_PER_SLICE, writeInSlices } from './write/writeInSlices.ts';
import { Writes } from './write/writes.ts';

/**
 * Number of segments that share a compression dictionary. Later segments get a new dictionary, because other
 * addresses come into use on a chain over weeks.
 */
const SEGMENTS_PER_DICTIONARY = 128;

/** Default size in bytes of the cache for the JSON texts of recently used traces. */
const DEFAULT_CACHE_BYTES = 80 * 1024 * 1024;

/**
 * Maximum number of positions of recent blocks in memory. Above it, the positions are merged to disk, which rewrites
 * nearly all posting lists of the segment. A position uses about 30 bytes. 120 mainnet blocks have this many
 * positions, which the first read after an open derives again in 0.2 s.
 */
const MAX_RECENT_POSITIONS = 2 ** 18;

export interface TraceStoreOptions extends FilterRunnerOptions {
  readonly cacheBytes?: number;
  readonly maxRecentPositions?: number;
  readonly listsPerMerge?: number;
  /** Called with the part of the index in which a read has found damage. */
  readonly onDamage?: (part: DamagedPart) => void;
}

/** Reader of an index that another process writes. */
export interface LmdbTraceReader extends CopyableIndex {
  /**
   * Makes all earlier commits visible to later reads. Without a call, all reads of one event loop tick see one
   * commit.
   */
  refresh(): void;
  /** Loads the postings of recent blocks, which the next read would load otherwise. Throws DamagedIndexError. */
  loadRecent(): void;
}

/** Opens the trace index in the folder `path` for reading and writing. Creates it if there is none. */
export function openTraceStore(path: string, options: TraceStoreOptions = {}): EmbeddedTraceStore {
  const environment = TraceEnvironment.open(path);
  const repaired = repairAtOpen(environment);
  return new LmdbTraceStore(environment, options, { repaired });
}

/**
 * Opens, for reading, a trace index that another process writes. Later commits of that process become visible. Throws
 * NoIndexError if the folder has no index.
 */
export function openTraceReader(path: string, options: TraceStoreOptions = {}): LmdbTraceReader {
  const { onDamage } = options;
  const environment = TraceEnvironment.open(path, { readOnly: true, onDamage });
  return new LmdbTraceStore(environment, options, { isReader: true });
}

class LmdbTraceStore implements EmbeddedTraceStore {
  readonly #environment: TraceEnvironment;
  readonly #json = new JsonWriter();
  readonly #state: IndexState;
  readonly #texts: TextCache;
  readonly #answers: TraceArrayWriter;
  readonly #filters: FilterRunner;
  /** Epoch of the state (`IndexState.epoch`) to which the cached texts belong. */
  #epoch = 0;
  /** Runs changes one at a time, because each change depends on the state that the previous one left. */
  readonly #changes = new SerialQueue();
  readonly #history: LmdbHistoryReader;
  readonly #upkeep: DirectoryUpkeep | undefined;
  readonly onDemand: LmdbOnDemandPart;
  readonly #isReader: boolean;
  /** Used only by a reader: the value of `StateVersion.changes` at which the reader last opened new dictionaries. */
  #dictionariesAt: number | undefined;
  readonly #maxRecentPositions: number;
  readonly #listsPerMerge: number;

  /** Names of the single records that were repaired when the index was opened. */
  #repairedAtOpen: readonly string[];

  constructor(
    environment: TraceEnvironment,
    options: TraceStoreOptions,
    {
      isReader = false,
      repaired = [],
    }: { readonly isReader?: boolean; readonly repaired?: readonly string[] },
  ) {
    this.#repairedAtOpen = repaired;
    const { cacheBytes = DEFAULT_CACHE_BYTES } = options;
    this.#isReader = isReader;
    this.#maxRecentPositions = options.maxRecentPositions ?? MAX_RECENT_POSITIONS;
    this.#listsPerMerge = options.listsPerMerge ?? LISTS_PER_MERGE;
    this.#environment = environment;
    this.#state = new IndexState(environment);
    this.#texts = new TextCache(cacheBytes);
    this.#answers = new TraceArrayWriter(this.#state, this.#texts);
    this.#filters = new FilterRunner(options, {
      current: () => this.#current(),
      answers: this.#answers,
      json: this.#json,
    });
    this.#history = new LmdbHistoryReader(environment, this.#state);
    this.onDemand = new LmdbOnDemandPart({
      environment,
      state: () => this.#current(),
      runExclusive: (step) => this.#changes.run(step),
      commit: (writes) => this.#commit(() => writes.execute(), { isFlushed: false }),
      changing: (segments) => this.#upkeep?.changed(segments),
    });
    if (isReader) return;
    // From here on, only this process writes the index.
    this.#state.setWriting(false);
    this.#upkeep = new DirectoryUpkeep({
      environment,
      state: () => this.#current(),
      runExclusive: (step) => this.#changes.run(async () => step()),
      commit: (writes) => this.#commit(() => writes.execute(), { isFlushed: false }),
    });
    this.#upkeep.wake();
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
        await this.#commit(() => writes.execute());
      } else if (held.chainId !== identity.chainId || held.genesisHash !== identity.genesisHash) {
        throw new WrongChainError(held, identity);
      }
    });
  }

  head(): StoredBlock | undefined {
    return this.#current().head();
  }

  refresh(): void {
    this.#environment.root.resetReadTxn();
  }

  loadRecent(): void {
    this.#current().loadRecent();
  }

  finalizedNumber(): number | undefined {
    return this.#current().finalizedNumber();
  }

  block(blockNumber: number): StoredBlock | undefined {
    return this.#current().block(blockNumber);
  }

  indexedBlock(blockNumber: number): IndexedBlock | undefined {
    const block = this.#current().block(blockNumber);
    return block && indexChunks(block, this.#state.chunksOf(block));
  }

  lastBlock(upTo: number): StoredBlock | undefined {
    return this.#current().lastBlock(upTo);
  }

  firstMissing(fromBlock: number, toBlock: number): number | undefined {
    return this.#current().firstMissing(fromBlock, toBlock);
  }

  unavailable(fromBlock: number, toBlock: number, max: number): readonly UnavailableBlock[] {
    return this.#current().unavailable(fromBlock, toBlock, max);
  }

  filter(filter: TraceFilter, maxBytes: number, options?: FilterOptions): MaybePromise<Buffer | undefined> {
    return this.#filters.filter(filter, { maxBytes, ...options });
  }

  blockTraces(blockNumber: number, maxBytes: number, nextTurn?: NextTurn): MaybePromise<Buffer | undefined> {
    const block = this.#current().block(blockNumber);
    if (block === undefined || block.unavailable !== undefined) return undefined;
    return this.#run({ block, first: 0, end: block.traceCount }, { maxBytes, nextTurn });
  }

  transactionTraces(hash: Hash, limits: TransactionLimits): MaybePromise<Buffer | undefined> {
    const root = this.#findTransaction(hash, limits.upTo);
    if (root === undefined) return undefined;
    const { block, index, transactionPosition } = root;
    const next = { transactionPosition: transactionPosition + 1, traceAddress: [] };
    const end = firstTraceFrom(this.#chunksOf(block), { first: index + 1, end: block.traceCount }, next);
    return this.#run({ block, first: index, end }, limits);
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
    const readData = (blockNumber: number, chunk: number) => this.#state.dataChunk(blockNumber, chunk);
    writeTrace(this.#json, readChunk(found), found % TRACES_PER_CHUNK, block.number, readData);
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

  frames<T>(query: FramesQuery, decode: DecodeFrame<T>): FramesPage<T> {
    this.#current();
    return readFrames(this.#history, query, decode);
  }

  transactionPosition(hash: Hash, { upTo }: Pick<TransactionLimits, 'upTo'>): HistoryPosition | undefined {
    const root = this.#findTransaction(hash, upTo);
    return root && { blockNumber: root.block.number, traceIndex: root.index, blockHash: root.block.hash };
  }

  #run(
    run: BlockRun,
    { maxBytes, nextTurn }: Omit<TransactionLimits, 'upTo'>,
  ): MaybePromise<Buffer | undefined> {
    const { block, first, end } = run;
    if (end - first <= TRACES_PER_SLICE) return this.#runAtOnce(run, maxBytes);
    const isThere = (): boolean => this.#current().block(block.number)?.hash === block.hash;
    return writeInSlices(this.#answers, run, { maxBytes, nextTurn, isThere });
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
        { environment: this.#environment, state: this.#current() },
      );
      this.#state.recent.stage(change.blocks);
      this.#upkeep?.changed(batch.changedSegments);
      await this.#commit(() => batch.write()).finally(() => this.#state.recent.stage([]));
    });
    // Callers of `apply` do not wait for this merge. If it fails, a later change tries the merge again, or fails like
    // it.
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

  /**
   * Merges the recent postings of a segment to disk. Prepares the next posting lists while the previous ones are
   * written.
   */
  async #merge(segment: number): Promise<void> {
    let committed: Promise<void> = Promise.resolve();
    const steps = mergeRecent(
      { segment, listsPerStep: this.#listsPerMerge },
      { environment: this.#environment, state: this.#current() },
    );
    for (const writes of steps) {
      await committed;
      committed = this.#commit(() => writes.execute(), { isFlushed: false });
      // Prevents an unhandled rejection. The next `await committed` throws the error.
      committed.catch(() => undefined);
      // Lets the write start, which happens in the next event loop tick.
      await afterPolling();
    }
    await committed;
  }

  /**
   * Returns the number of the compression dictionary for segments that start with this change. Makes a new dictionary
   * if the newest one is too old.
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

  noteDamage(parts: readonly DamagedPart[]): void {
    for (const part of parts) this.#environment.noteDamage(part);
  }

  repair(): Promise<IndexRepair | undefined> {
    return this.#changes.run(async () => {
      const records = this.#repairedAtOpen;
      this.#repairedAtOpen = [];
      if (this.#environment.damage.size + records.length === 0) return undefined;
      const repair = await repairIndex({
        environment: this.#environment,
        state: this.#state,
        commit: (writes) => this.#commit(() => writes.execute()),
        changing: (segment) => this.#upkeep?.changed([segment]),
      });
      this.#upkeep?.wake();
      return { ...repair, records: [...records, ...repair.records] };
    });
  }

  async close(): Promise<void> {
    await this.#upkeep?.stop();
    await this.#changes.idle();
    await this.#environment.close();
  }

  /**
   * Runs `write` in one transaction. Later reads see its changes. If `isFlushed` is true, waits until they are on
   * disk.
   */
  async #commit(write: () => void, { isFlushed } = { isFlushed: true }): Promise<void> {
    const { root } = this.#environment;
    this.#state.setWriting(true);
    // An open read transaction prevents the reuse of pages of its snapshot, so the file would grow.
    root.resetReadTxn();
    try {
      this.#environment.assertInPlace();
      await this.#environment.commit(write);
      if (isFlushed) await root.flushed;
      // Throws if the file was removed or replaced during the write, because the change would then be lost.
      this.#environment.assertInPlace();
    } finally {
      root.resetReadTxn();
      this.#state.setWriting(false);
    }
  }

  #array(maxBytes: number, visitAll: (visitor: MatchVisitor) => void): Buffer {
    this.#answers.write(this.#json, maxBytes, visitAll);
    return this.#json.copy();
  }

  #current(): IndexState {
    if (this.#isReader) this.#openDictionaries();
    this.#state.refreshSnapshot();
    if (this.#state.epoch !== this.#epoch) this.#texts.clear();
    this.#epoch = this.#state.epoch;
    return this.#state;
  }

  /** Opens new dictionaries before the state is refreshed, because the state may read chunks that need them. */
  #openDictionaries(): void {
    // Opening a dictionary starts a new snapshot, so the number of changes is read again.
    for (let { changes } = this.#state; changes !== this.#dictionariesAt; { changes } = this.#state) {
      this.#dictionariesAt = changes;
      this.#environment.openDictionaries();
    }
  }

  /** Returns the root frame of a transaction in a block up to `upTo`. Searches the newest segments first. */
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

/**
 * Root frame of a transaction: its block, the index of its trace in the block, and the transaction's index in the
 * block.
 */
interface RootFrame {
  readonly block: StoredBlock;
  readonly index: number;
  readonly transactionPosition: number;
}
