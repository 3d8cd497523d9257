/**
 * Names of span attributes, after OpenTelemetry's conventions. Values are fixed words, configured names or numbers,
 * never text from a client.
 */
export type AttributeName =
  | 'http.request.method'
  | 'http.route'
  | 'http.response.status_code'
  | 'rpc.system'
  | 'rpc.method'
  | 'rpc.jsonrpc.error_code'
  | 'server.address'
  | 'error.type'
  | 'floodgate.network'
  | 'floodgate.node'
  | 'floodgate.cache'
  | 'floodgate.block'
  | 'floodgate.blocks';

export type SpanKind = 'internal' | 'server' | 'client';

export interface Span {
  /** Value of the `traceparent` header for requests within this span. */
  readonly traceparent: string;
  child(name: string, kind: SpanKind): Span;
  set(name: AttributeName, value: string | number): void;
  /** Ends the span, with an error type if it failed. Later calls have no effect. */
  end(failure?: string): void;
}

export interface FinishedSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** Id of the parent span; undefined for the root span of a trace. */
  readonly parentId: string | undefined;
  readonly name: string;
  readonly kind: SpanKind;
  /** Start of the span, in milliseconds since 1970. */
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: ReadonlyMap<AttributeName, string | number>;
  readonly failure: string | undefined;
}

/** Used instead of a span that is not recorded. Propagates the trace. */
export class NonRecordingSpan implements Span {
  readonly traceparent: string;

  constructor(traceparent: string) {
    this.traceparent = traceparent;
  }

  child(): Span {
    return this;
  }

  set(): void {}

  end(): void {}
}
