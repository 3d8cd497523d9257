export interface TraceLimits {
  /** Maximum memory for a block, in bytes: identical inputs and outputs count once. */
  readonly maxBlockBytes: number;
  /** Maximum size of one response for a block or one of its transactions, in bytes. */
  readonly maxReadBytes: number;
}

export const DEFAULT_TRACE_LIMITS: TraceLimits = {
  maxBlockBytes: 64 * 1024 * 1024,
  maxReadBytes: 1024 * 1024 * 1024,
};
