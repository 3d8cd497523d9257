/** Names of attributes, after OpenTelemetry's conventions. Values are fixed words, configured names and numbers, never a client's text. */
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

/** Work that is under way, and what belongs to it. */
export interface Span {
  /** For whoever is asked as a part of it: the header of this name. */
  readonly traceparent: string;
  child(name: string, kind: SpanKind): Span;
  set(name: AttributeName, value: string | number): void;
  /** It is done; with a word for what went wrong where it failed. Later calls change nothing. */
  end(failure?: string): void;
}

/** A span as it is told to a collector. */
export interface FinishedSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** Undefined where the trace begins with it. */
  readonly parentId: string | undefined;
  readonly name: string;
  readonly kind: SpanKind;
  /** Since 1970. */
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: ReadonlyMap<AttributeName, string | number>;
  readonly failure: string | undefined;
}

/** Stands for work that is not recorded, and passes on where it belongs. */
export class UnrecordedSpan implements Span {
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
