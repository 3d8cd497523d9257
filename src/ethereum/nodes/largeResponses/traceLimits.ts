export interface TraceLimits {
  /** Maximum memory for the traces of a block, in bytes. An input or output that occurs many times counts only once. */
  readonly maxBlockBytes: number;
  /** Maximum size of one response with the traces of a block, or of one of its transactions, in bytes. */
  readonly maxReadBytes: number;
  /**
   * Maximum time for a transaction, passed to a node's tracer, and maximum time without data while it traces a block,
   * in milliseconds.
   */
  readonly traceTimeoutMs: number;
  /** Whether the traces of each block are compared with its receipts. */
  readonly checkReceipts: boolean;
}

/** The limits that operators can configure. */
export type IndexTraceLimits = Pick<TraceLimits, 'maxBlockBytes' | 'traceTimeoutMs' | 'checkReceipts'>;

export const DEFAULT_TRACE_LIMITS: TraceLimits = {
  maxBlockBytes: 64 * 1024 * 1024,
  maxReadBytes: 1024 * 1024 * 1024,
  traceTimeoutMs: 30_000,
  checkReceipts: false,
};
