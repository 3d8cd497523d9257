import { failureReporter } from '../background/index.ts';
import type { Log } from '../logging/index.ts';
import { exportRequest, type Resource } from './otlp.ts';
import { type PostResult, postJson } from './postJson.ts';
import type { FinishedSpan } from './span.ts';
import type { SpanMetrics } from './spanMetrics.ts';

export interface SpanExporterOptions {
  /** OTLP/HTTP URL of the collector: `http://127.0.0.1:4318/v1/traces`. */
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly resource: Resource;
  /** Maximum number of queued spans, of about 1 KB each. */
  readonly maxWaiting?: number;
  readonly intervalMs?: number | undefined;
}

export interface SpanExporterDependencies {
  readonly metrics: SpanMetrics;
  readonly log: Log;
}

/** Defaults of OpenTelemetry's batch span processor. */
const MAX_WAITING = 2_048;
const INTERVAL_MS = 5_000;
const MAX_BATCH = 512;
const TIMEOUT_MS = 10_000;
/** Delays before retries. They double from the first to the maximum value. */
const FIRST_RETRY_MS = 1_000;
const MAX_RETRY_MS = 60_000;
const STOP_TIMEOUT_MS = 2_000;
const TELL_EVERY_MS = 60_000;

/** Sends spans to a collector in batches, without blocking requests. Drops and counts spans if the queue is full. */
export class SpanExporter {
  readonly #options: SpanExporterOptions;
  readonly #metrics: SpanMetrics;
  readonly #log: Log;
  readonly #stop = new AbortController();
  #waiting: FinishedSpan[] = [];
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> | undefined;
  #failures = 0;
  #rejectionLoggedAtMs = Number.NEGATIVE_INFINITY;

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
    // After a failure, the retry delay applies even if a full batch is waiting.
    if (this.#waiting.length === MAX_BATCH && this.#failures === 0) this.#sendAfter(0);
    else this.#timer ??= this.#timerOf(intervalMs);
  }

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
      this.#sending ??= this.#send()
        .catch(failureReporter('span export'))
        .finally(() => {
          this.#sending = undefined;
        });
    }, ms).unref();
  }

  async #send(): Promise<void> {
    while (this.#waiting.length > 0 && !this.#stop.signal.aborted) if (!(await this.#sendBatch())) return;
  }

  /** Sends one batch of spans. Returns whether the next batch may be sent at once. */
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
    if (this.#failures > 0) this.#log.info({ host: url.host }, 'span export recovered');
    this.#failures = 0;
    const rejected = posted.kind === 'refused' ? batch.length : rejectedIn(posted.body, batch.length);
    this.#metrics.exported(batch.length - rejected);
    if (rejected > 0)
      this.#refused(rejected, posted.kind === 'refused' ? posted.reason : 'partially rejected');
    return true;
  }

  #failed({ reason, retryAfterMs = 0 }: Extract<PostResult, { kind: 'later' }>): void {
    const { url } = this.#options;
    const pauseMs = Math.min(MAX_RETRY_MS, Math.max(retryAfterMs, FIRST_RETRY_MS * 2 ** this.#failures));
    // Later failures are not logged until an export succeeds.
    if (this.#failures++ === 0 && !this.#stop.signal.aborted)
      this.#log.warn(
        { host: url.host, reason },
        'span export failed: retrying, spans beyond the queue are dropped',
      );
    this.#sendAfter(pauseMs);
  }

  #refused(spans: number, reason: string): void {
    this.#metrics.dropped('refused', spans);
    if (performance.now() - this.#rejectionLoggedAtMs < TELL_EVERY_MS) return;
    this.#rejectionLoggedAtMs = performance.now();
    const { host } = this.#options.url;
    this.#log.warn({ host, spans, reason }, 'spans dropped: rejected by the collector');
  }
}

function rejectedIn(body: string, sent: number): number {
  try {
    const rejected = Number(JSON.parse(body)?.partialSuccess?.rejectedSpans ?? 0);
    return Number.isSafeInteger(rejected) && rejected > 0 ? Math.min(rejected, sent) : 0;
  } catch {
    // The collector's response may be protobuf or empty. Then no span counts as rejected.
    return 0;
  }
}
