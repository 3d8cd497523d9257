import { MAX_COUNT, MAX_RANGE_BLOCKS } from '../traces/index.ts';

/** Limits of single calls. The operator configures them for the server (`gateway.limits`) and for single API keys. */
export interface CallLimits {
  /** Maximum number of blocks in the range of trace_filter, first and last block included. */
  readonly traceFilterBlocks: number;
  /** Maximum `count` of trace_filter. */
  readonly traceFilterCount: number;
  /** Maximum number of blocks in the range of eth_getLogs and eth_getFilterLogs, first and last block included. */
  readonly logsBlocks: number;
  /** Maximum number of blocks in a call of eth_feeHistory. */
  readonly feeHistoryBlocks: number;
}

export type CallLimit = keyof CallLimits;

/** Defaults (docs/internals/decisions/gateway.md). */
export const DEFAULT_LIMITS: CallLimits = {
  traceFilterBlocks: MAX_RANGE_BLOCKS,
  traceFilterCount: MAX_COUNT,
  logsBlocks: 800,
  feeHistoryBlocks: 10,
};

/**
 * Maximum values.
 * - traceFilterBlocks: reading the index is synchronous. The slowest known filter takes 48 ms for 800 blocks of 1,000
 *   traces, and 0.5 s for 8,000.
 * - traceFilterCount: 10,000 traces are about 8 MB of JSON.
 * - logsBlocks: the limit of many providers of nodes.
 * - feeHistoryBlocks: the limit of go-ethereum.
 */
export const MAX_LIMITS: CallLimits = {
  traceFilterBlocks: 8_000,
  traceFilterCount: 10_000,
  logsBlocks: 10_000,
  feeHistoryBlocks: 1_024,
};
