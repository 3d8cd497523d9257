import { randomBytes } from 'node:crypto';
import { RecordedSpan } from './recordedSpan.ts';
import { type SamplerOptions, samplerOf } from './sampler.ts';
import { type FinishedSpan, type Span, type SpanKind, UnrecordedSpan } from './span.ts';
import { parseTraceparent, traceparentOf } from './traceContext.ts';

export interface TracerOptions extends SamplerOptions {
  /** Of one request, or whatever else spans begin with here. */
  readonly maxSpans?: number;
}

export interface TracerDependencies {
  readonly finished: (span: FinishedSpan) => void;
  /** A span was not recorded as its request had too many. */
  readonly dropped: () => void;
}

const MAX_SPANS = 256;
const TRACE_ID_BYTES = 16;

export interface BeginOptions {
  readonly name: string;
  readonly kind: SpanKind;
  /** The header `traceparent` of the request that it is for. */
  readonly traceparent?: string | readonly string[] | undefined;
}

/** Begins spans. Where nothing is to be traced there is no tracer, and nothing of this is reached. */
export class Tracer {
  readonly #maxSpans: number;
  readonly #dependencies: TracerDependencies;
  readonly #isSampled: ReturnType<typeof samplerOf>;

  constructor({ maxSpans = MAX_SPANS, ...options }: TracerOptions, dependencies: TracerDependencies) {
    this.#maxSpans = maxSpans;
    this.#dependencies = dependencies;
    this.#isSampled = samplerOf(options);
  }

  /** Undefined where it is not recorded and belongs to no trace. */
  begin({ name, kind, traceparent }: BeginOptions): Span | undefined {
    const parent = traceparent === undefined ? undefined : parseTraceparent(traceparent);
    if (!this.#isSampled(parent))
      return parent && new UnrecordedSpan(traceparentOf({ ...parent, isSampled: false }));
    const part = {
      traceId: parent?.traceId ?? randomBytes(TRACE_ID_BYTES).toString('hex'),
      spansLeft: this.#maxSpans - 1,
      ...this.#dependencies,
    };
    return new RecordedSpan(part, { name, kind, parentId: parent?.spanId });
  }
}
