import type { Log } from '../logging/index.ts';
import { exportRequest, type Resource } from './otlp.ts';
import { type Posted, postJson } from './postJson.ts';
import type { FinishedSpan } from './span.ts';
import type { SpanMetrics } from './spanMetrics.ts';

export interface SpanExporterOptions {
  /** Where a collector takes OTLP over HTTP: `http://127.0.0.1:4318/v1/traces`. */
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly resource: Resource;
  /** Spans that wait at most; about a kilobyte each. */
  readonly maxWaiting?: number;
  /** How long spans are gathered. */
  readonly intervalMs?: number;
}

export interface SpanExporterDependencies {
  readonly metrics: SpanMetrics;
  readonly log: Log;
}

/** As OpenTelemetry's batch processor has them, if nothing is said. */
const MAX_WAITING = 2_048;
const INTERVAL_MS = 5_000;
const MAX_BATCH = 512;
/** For one attempt. */
const TIMEOUT_MS = 10_000;
/** Pauses after failures: doubled from the first to the last. */
const FIRST_RETRY_MS = 1_000;
const MAX_RETRY_MS = 60_000;
/** A stop waits for what is left for so long. */
const STOP_TIMEOUT_MS = 2_000;
/** Refusals are told this often. */
const TELL_EVERY_MS = 60_000;

/** Sends spans to a collector, some at a time. Nobody waits for it: where too many wait, further ones are dropped and counted. */
export class SpanExporter {
  readonly #options: SpanExporterOptions;
  readonly #metrics: SpanMetrics;
  readonly #log: Log;
  readonly #stop = new AbortController();
  #waiting: FinishedSpan[] = [];
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> | undefined;
  #failures = 0;
  #toldRefusalAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: SpanExporterOptions, { metrics, log }: SpanExporterDependencies) {
    this.#options = options;
    this.#metrics = metrics;
    this.#log = log;
  }

  add(span: FinishedSpan): void {
    const { maxWaiting = MAX_WAITING, intervalMs = INTERVAL_MS } = this.#options;
    if (this.#stop.signal.aborted) return this.#metrics.dropped('stopped');
    if (this.#waiting.length >= maxWaiting) return this.#metrics.dropped('queue_full');
    this.#waiting.push(span);
    // After a failure its pause is kept, however many come.
    if (this.#waiting.length === MAX_BATCH && this.#failures === 0) this.#sendAfter(0);
    else this.#timer ??= this.#timerOf(intervalMs);
  }

  /** Sends what waits once more, for a bounded time. */
  async stop(): Promise<void> {
    clearTimeout(this.#timer);
    const timeout = setTimeout(() => this.#stop.abort(), STOP_TIMEOUT_MS);
    await this.#sending;
    while (this.#waiting.length > 0 && !this.#stop.signal.aborted) if (!(await this.#sendBatch())) break;
    clearTimeout(timeout);
    this.#stop.abort();
    this.#metrics.dropped('stopped', this.#waiting.length);
    this.#waiting = [];
    clearTimeout(this.#timer);
  }

  #sendAfter(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = this.#timerOf(ms);
  }

  #timerOf(ms: number): NodeJS.Timeout {
    return setTimeout(() => {
      this.#timer = undefined;
      this.#sending ??= this.#send().finally(() => {
        this.#sending = undefined;
      });
    }, ms).unref();
  }

  async #send(): Promise<void> {
    while (this.#waiting.length > 0 && !this.#stop.signal.aborted) if (!(await this.#sendBatch())) return;
  }

  /** Returns whether it is worth while to go on at once. */
  async #sendBatch(): Promise<boolean> {
    const { url, headers, resource } = this.#options;
    const batch = this.#waiting.slice(0, MAX_BATCH);
    const posted = await postJson(url, exportRequest(batch, resource), {
      headers,
      timeoutMs: TIMEOUT_MS,
      signal: this.#stop.signal,
    });
    if (posted.kind === 'later') {
      this.#failed(posted);
      return false;
    }
    this.#waiting.splice(0, batch.length);
    if (this.#failures > 0) this.#log.info({ host: url.host }, 'spans are sent again');
    this.#failures = 0;
    const rejected = posted.kind === 'refused' ? batch.length : rejectedIn(posted.body, batch.length);
    this.#metrics.exported(batch.length - rejected);
    if (rejected > 0)
      this.#refused(rejected, posted.kind === 'refused' ? posted.reason : 'it rejected some of them');
    return true;
  }

  #failed({ reason, retryAfterMs = 0 }: Extract<Posted, { kind: 'later' }>): void {
    const { url } = this.#options;
    const pauseMs = Math.min(MAX_RETRY_MS, Math.max(retryAfterMs, FIRST_RETRY_MS * 2 ** this.#failures));
    // Once, until it is well again.
    if (this.#failures++ === 0 && !this.#stop.signal.aborted)
      this.#log.warn(
        { host: url.host, reason },
        'spans cannot be sent to the collector now: those for which there is no room are dropped',
      );
    this.#sendAfter(pauseMs);
  }

  #refused(spans: number, reason: string): void {
    this.#metrics.dropped('refused', spans);
    if (performance.now() - this.#toldRefusalAtMs < TELL_EVERY_MS) return;
    this.#toldRefusalAtMs = performance.now();
    const { host } = this.#options.url;
    this.#log.warn({ host, spans, reason }, 'the collector refused spans: they are dropped');
  }
}

/** How many spans the collector has not taken, as its answer tells. */
function rejectedIn(body: string, sent: number): number {
  try {
    const rejected = Number(JSON.parse(body)?.partialSuccess?.rejectedSpans ?? 0);
    return Number.isSafeInteger(rejected) && rejected > 0 ? Math.min(rejected, sent) : 0;
  } catch {
    // It may answer in protobuf, or nothing.
    return 0;
  }
}
