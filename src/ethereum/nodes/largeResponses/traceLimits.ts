export interface TraceLimits {
  /** Maximum memory for the traces of a block, in bytes. An input or output that occurs many times counts only once. */
  readonly maxBlockBytes: number;
  /** Maximum size of one response with the traces of a block, or of one of its transactions, in bytes. */
  readonly maxReadBytes: number;
}

export const DEFAULT_TRACE_LIMITS: TraceLimits = {
  maxBlockBytes: 64 * 1024 * 1024,
  maxReadBytes: 1024 * 1024 * 1024,
};
