/**
 * Traces: data model, filters, storage format and search. This module does no I/O: the module `ingest` reads traces
 * from nodes, and a storage engine behind the interface `TraceStore` persists them.
 */

export {
  actionValue,
  actionValueSpan,
  attributesOf,
  hasFailed,
  kindIn,
  TRACE_KINDS,
  type TraceKind,
  typeIn,
  valueBitsIn,
} from './chunk/attributes.ts';
export { writeHex } from './chunk/byteWriter.ts';
export { dataChunksOf, refersToData } from './chunk/dataChunks.ts';
export { CHUNK_HEAD_BYTES, chunkOf, TRACE_TYPES, TRACES_PER_CHUNK } from './chunk/format.ts';
export { transactionPositionOf } from './chunk/framePosition.ts';
export {
  HEADROOM_BYTES,
  JsonWriter,
  TAILROOM_BYTES,
} from './chunk/jsonWriter.ts';
export { JsonWriterPool } from './chunk/jsonWriterPool.ts';
export { isShared, MIN_SHARED_CHARS } from './chunk/repeatedData.ts';
export { NOT_FOUND, TextCache } from './chunk/textCache.ts';
export { visitTerms } from './chunk/visitTerms.ts';
export { type ReadDataChunk, writeTrace } from './chunk/writeTrace.ts';
export {
  assertNotTooMany,
  type FilterMode,
  MAX_COUNT,
  MAX_RANGE_BLOCKS,
  searchLimit,
  TooManyTracesError,
  type TraceFilter,
} from './filter.ts';
export { findFrame, firstTraceFrom } from './findFrame.ts';
export {
  findMatches,
  type IndexReader,
  type MatchVisitor,
  type SegmentMatches,
  type TraceCounts,
  tracesOfBlock,
  visitMatches,
} from './findMatches.ts';
export { FilterMatcher } from './history/filterMatcher.ts';
export { historyFrameOf, readFrames, transactionOf } from './history/frames.ts';
export { MAX_MISSING_RANGES, readHistory } from './history/page.ts';
export {
  type BlockRange,
  BlockReplacedError,
  type DecodeFrame,
  type Direction,
  type FramesPage,
  type FramesQuery,
  type HistoryFilter,
  type HistoryFrame,
  type HistoryPage,
  type HistoryPosition,
  type HistoryQuery,
  type HistorySummary,
  type HistoryTransaction,
  INTERNAL_TRANSACTIONS,
  MAX_HISTORY_ADDRESSES,
  MAX_HISTORY_LIMIT,
  type Order,
  type SummaryQuery,
  type TypeCounts,
} from './history/query.ts';
export {
  clipped,
  edgeOf,
  firstGaps,
  isEmptyRange,
  rangeAfter,
  rangeUpTo,
} from './history/ranges.ts';
export {
  COST,
  type FoundList,
  type FoundSegment,
  type HistoryReader,
  type Missing,
  type SegmentCounts,
  type SegmentsQuery,
  WorkBudget,
} from './history/reader.ts';
export { DirectoryNotReadyError, summarizeHistory } from './history/summary.ts';
export { indexBlock, indexChunks, indexUnavailable, termOf } from './indexBlock.ts';
export { immediate, type MaybePromise, mapMaybe } from './maybePromise.ts';
export { partiesOf } from './parties.ts';
export {
  BLOCKS_PER_SEGMENT,
  blockAt,
  END_OF_SEGMENT,
  firstBlockOf,
  MAX_TRACES_PER_BLOCK,
  positionOf,
  segmentOf,
  traceIndexAt,
} from './position.ts';
export { doubled } from './postings/keyTable.ts';
export {
  END_OF_LIST_IDS,
  listOf,
  PAGE_POSITIONS,
  type Positions,
  PostingList,
  type ReadPage,
} from './postings/list.ts';
export { PairIntersections } from './postings/pairIntersections.ts';
export { RecentPostings } from './postings/recentPostings.ts';
export type { Merged, PartOfList } from './postings/select.ts';
export {
  AnswerTooLargeError,
  type ChainIdentity,
  type CopyableIndex,
  type DamagedPart,
  type EmbeddedTraceStore,
  type FetchBlocks,
  type FilterOptions,
  type IndexChange,
  IndexConflictError,
  type IndexedBlock,
  type IndexRepair,
  IndexUnavailableError,
  type NextTurn,
  type OnDemandPart,
  type PostingTerm,
  type Side,
  type StoredBlock,
  TRACE_FAILURES,
  type TraceFailure,
  type TraceReader,
  type TraceStore,
  type TransactionLimits,
  type UnavailableBlock,
  WrongChainError,
} from './store.ts';
export type {
  Address,
  BlockHeader,
  CallResult,
  CallTrace,
  CallType,
  CreateResult,
  CreateTrace,
  CreationMethod,
  Data,
  Hash,
  Placement,
  Quantity,
  RewardTrace,
  RewardType,
  SuicideTrace,
  Trace,
} from './trace.ts';
