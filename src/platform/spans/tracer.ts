import { randomBytes } from 'node:crypto';
import { RecordedSpan } from './recordedSpan.ts';
import { type SamplerOptions, samplerOf } from './sampler.ts';
import { type FinishedSpan, NonRecordingSpan, type Span, type SpanKind } from './span.ts';
import { parseTraceparent, traceparentOf } from './traceContext.ts';

export interface TracerOptions extends SamplerOptions {
  /** Maximum number of spans per request or other root span. Default: 256. */
  readonly maxSpans?: number;
}

export interface TracerDependencies {
  readonly finished: (span: FinishedSpan) => void;
  /** Called for each span above `maxSpans`, which is not recorded. */
  readonly dropped: () => void;
}

const MAX_SPANS = 256;
const TRACE_ID_BYTES = 16;

export interface BeginOptions {
  readonly name: string;
  readonly kind: SpanKind;
  readonly traceparent?: string | readonly string[] | undefined;
}

/** Starts the spans of requests. Exists only if tracing is enabled. */
export class Tracer {
  readonly #maxSpans: number;
  readonly #dependencies: TracerDependencies;
  readonly #isSampled: ReturnType<typeof samplerOf>;

  constructor({ maxSpans = MAX_SPANS, ...options }: TracerOptions, dependencies: TracerDependencies) {
    this.#maxSpans = maxSpans;
    this.#dependencies = dependencies;
    this.#isSampled = samplerOf(options);
  }

  /** Starts a span. Returns undefined if the span is not recorded and there is no trace to propagate. */
  begin({ name, kind, traceparent }: BeginOptions): Span | undefined {
    const parent = traceparent === undefined ? undefined : parseTraceparent(traceparent);
    if (!this.#isSampled(parent))
      return parent && new NonRecordingSpan(traceparentOf({ ...parent, isSampled: false }));
    const part = {
      traceId: parent?.traceId ?? randomBytes(TRACE_ID_BYTES).toString('hex'),
      spansLeft: this.#maxSpans - 1,
      ...this.#dependencies,
    };
    return new RecordedSpan(part, { name, kind, parentId: parent?.spanId });
  }
}
