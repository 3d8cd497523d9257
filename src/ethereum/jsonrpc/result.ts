export interface ResultSink {
  /** Writes a piece. If it returns false, the writer must pause until `resume` of the stream is called. */
  write(piece: Uint8Array): boolean;
  end(): void;
  /** Reports that the result is incomplete. The response to the client must then not look complete. */
  fail(error: Error): void;
}

/** Result that is too large for memory, so it is passed on while it arrives. Reading starts when `pipe` is called. */
export interface ResultStream {
  pipe(sink: ResultSink): void;
  resume(): void;
  abort(): void;
}

/** Result as JSON text. It is copied into the response without being parsed again. */
export type ResultBytes = Uint8Array;

/**
 * Result in a pooled buffer. `release` must be called exactly once. Until then, the free bytes around the result may be
 * overwritten, so that the whole response can be sent from this buffer.
 */
export interface PooledBytes {
  readonly bytes: Uint8Array;
  readonly freeBytesBefore: number;
  readonly freeBytesAfter: number;
  release(): void;
}

export type Result = ResultBytes | PooledBytes | ResultStream;

export const isPooled = (result: Result): result is PooledBytes => 'release' in result;

export const isStream = (result: Result): result is ResultStream => 'pipe' in result;
