/**
 * Traces: what a trace is, what a filter matches, how traces are stored and found again.
 * Nothing here does I/O: nodes are asked by `ingest` through a port, bytes are kept by an engine behind `TraceStore`.
 */
export {
  findMatches,
  type IndexReader,
  type SegmentMatches,
  type TraceCounts,
  tracesOfBlock,
  type Visitor,
  visitMatches,
} from './answerFilter.ts';
export { type Awaitable, andThen } from './awaitable.ts';
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
export { chunkOf, TRACE_TYPES, TRACES_PER_CHUNK } from './chunk/format.ts';
export { transactionPositionOf } from './chunk/framePlace.ts';
export { type InternalFrame, internalFrameAt } from './chunk/internalFrame.ts';
export { JsonWriter, ROOM_BEFORE_BYTES, ROOM_BEHIND_BYTES } from './chunk/jsonWriter.ts';
export { JsonWriterPool } from './chunk/jsonWriterPool.ts';
export { NOWHERE, TextCache } from './chunk/textCache.ts';
export { visitTerms } from './chunk/visitTerms.ts';
export { writeTrace } from './chunk/writeTrace.ts';
export { type FilterMode, MAX_COUNT, MAX_RANGE_BLOCKS, type TraceFilter } from './filter.ts';
export { findFrame, firstTraceFrom } from './findFrame.ts';
export { FilterTest } from './history/filterTest.ts';
export { readInternalTransactions } from './history/internalTransactions.ts';
export { readHistory } from './history/page.ts';
export {
  type BlockRange,
  BlockReplacedError,
  type Direction,
  type HistoryFilter,
  type HistoryPage,
  type HistoryPlace,
  type HistoryQuery,
  type HistorySummary,
  type InternalTransaction,
  type InternalTransactionsPage,
  type InternalTransactionsQuery,
  MAX_HISTORY_ADDRESSES,
  MAX_HISTORY_LIMIT,
  type Order,
  type SummaryQuery,
  type TypeCounts,
} from './history/query.ts';
export {
  COST,
  type FoundList,
  type FoundSegment,
  type HistoryReader,
  type Missing,
  type SegmentCounts,
  type SegmentsAsked,
  WorkLeft,
} from './history/reader.ts';
export { DirectoryUnfinishedError, summarizeHistory } from './history/summary.ts';
export { indexBlock, termOf } from './indexBlock.ts';
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
export { PairLists } from './postings/pairLists.ts';
export { RecentPostings } from './postings/recentPostings.ts';
export type { Merged, PartOfList } from './postings/select.ts';
export {
  AnswerTooLargeError,
  type ChainIdentity,
  type IndexChange,
  IndexConflictError,
  type IndexedBlock,
  IndexUnavailableError,
  type PostingTerm,
  type RecentPart,
  type Side,
  type StoredBlock,
  type TraceReader,
  type TraceStore,
  type TransactionLimits,
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
