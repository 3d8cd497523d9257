export interface ResultSink {
  /** Accepts a piece of the result. If it returns false, the stream must pause until its `resume` is called. */
  write(piece: Uint8Array): boolean;
  end(): void;
  /** Reports that the result ends early. The response to the client must then not look complete. */
  fail(error: Error): void;
}

/** Result that is too large for memory, so that it is passed on while it arrives. `pipe` starts to read it. */
export interface ResultStream {
  pipe(sink: ResultSink): void;
  resume(): void;
  abort(): void;
}

/** Result as bytes of JSON text, which become part of the response without being parsed. */
export type ResultBytes = Uint8Array;

/**
 * Result in a pooled buffer, as bytes of JSON text. The free bytes before and after the result may be overwritten, so
 * that the whole response can be sent from this buffer. `release` must then be called exactly once.
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
