/** Where a large result goes, piece by piece. */
export interface ResultSink {
  /** Returns false where no more is wanted until `resume` of the stream is called. */
  write(piece: Uint8Array): boolean;
  end(): void;
  /** The result broke off: what was written must not look complete. */
  fail(error: Error): void;
}

/** A result too large to be held, while it arrives. Nothing is read before `pipe`. */
export interface ResultStream {
  pipe(sink: ResultSink): void;
  resume(): void;
  /** It is not wanted any more. */
  abort(): void;
}

/** An answer's result as it stands in JSON: answers are joined as bytes, never parsed again. */
export type ResultBytes = Uint8Array;

/**
 * Bytes in a buffer of a pool: their memory serves the next answer once `release` is called, which must be called once. Until then
 * the free bytes around them in the same memory may be written, so that an answer leaves in one piece.
 */
export interface PooledBytes {
  readonly bytes: Uint8Array;
  readonly roomBefore: number;
  readonly roomBehind: number;
  release(): void;
}

export type Result = ResultBytes | PooledBytes | ResultStream;

export const isPooled = (result: Result): result is PooledBytes => 'release' in result;

export const isStream = (result: Result): result is ResultStream => 'pipe' in result;
