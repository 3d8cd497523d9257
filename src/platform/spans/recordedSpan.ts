import { randomBytes } from 'node:crypto';
import { type AttributeName, type FinishedSpan, NonRecordingSpan, type Span, type SpanKind } from './span.ts';
import { traceparentOf } from './traceContext.ts';

export interface TraceState {
  readonly traceId: string;
  /** Number of spans that the trace may still record, so that a large batch does not displace other traces. */
  spansLeft: number;
  readonly finished: (span: FinishedSpan) => void;
  /** Called for each span that is not recorded because of this limit. */
  readonly dropped: () => void;
}

export interface RecordedSpanOptions {
  readonly name: string;
  readonly kind: SpanKind;
  readonly parentId: string | undefined;
}

export class RecordedSpan implements Span {
  readonly #part: TraceState;
  readonly #options: RecordedSpanOptions;
  readonly #spanId = newSpanId();
  readonly #startMs = nowMs();
  readonly #attributes = new Map<AttributeName, string | number>();
  #isEnded = false;

  constructor(part: TraceState, options: RecordedSpanOptions) {
    this.#part = part;
    this.#options = options;
  }

  get traceparent(): string {
    return traceparentOf({ traceId: this.#part.traceId, spanId: this.#spanId, isSampled: true });
  }

  child(name: string, kind: SpanKind): Span {
    if (this.#part.spansLeft-- > 0)
      return new RecordedSpan(this.#part, { name, kind, parentId: this.#spanId });
    this.#part.dropped();
    return new NonRecordingSpan(this.traceparent);
  }

  set(name: AttributeName, value: string | number): void {
    this.#attributes.set(name, value);
  }

  end(failure?: string): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    if (failure !== undefined) this.#attributes.set('error.type', failure);
    const { traceId, finished } = this.#part;
    const { name, kind, parentId } = this.#options;
    finished({
      traceId,
      spanId: this.#spanId,
      parentId,
      name,
      kind,
      failure,
      startMs: this.#startMs,
      endMs: nowMs(),
      attributes: this.#attributes,
    });
  }
}

/** Returns the time since 1970 in milliseconds. It is monotonic and has a higher resolution than the system clock. */
const nowMs = (): number => performance.timeOrigin + performance.now();

const SPAN_ID_BYTES = 8;
const newSpanId = (): string => randomBytes(SPAN_ID_BYTES).toString('hex');
