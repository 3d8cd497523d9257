import { setTimeout as pause } from 'node:timers/promises';

/** The number of failures whose text is kept. */
const MAX_TEXTS = 5;
const MAX_TEXT = 300;

/** The results of one polite client in a period. */
export interface WatchReport {
  readonly name: string;
  readonly answered: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  /** Queries over UDP without an answer to the first packet. */
  readonly lost: number;
  /** Errors, wrong answers and missing answers. */
  readonly failures: number;
  /** The first failures. */
  readonly texts: readonly string[];
}

/** Collects the results of one polite client. */
export class Watch {
  readonly name: string;
  #latenciesMs: number[] = [];
  #lost = 0;
  #failures = 0;
  #texts: string[] = [];

  constructor(name: string) {
    this.name = name;
  }

  answered(latencyMs: number): void {
    this.#latenciesMs.push(latencyMs);
  }

  lost(): void {
    this.#lost++;
  }

  failed(failure: unknown): void {
    this.#failures++;
    const text = failure instanceof Error ? `${failure.message} ${failure.cause ?? ''}` : String(failure);
    if (this.#texts.length < MAX_TEXTS) this.#texts.push(text.slice(0, MAX_TEXT));
  }

  /** Returns the results since the last call. */
  take(): WatchReport {
    const sorted = this.#latenciesMs.sort((one, other) => one - other);
    const quantile = (part: number): number =>
      sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? 0;
    const report = {
      name: this.name,
      answered: sorted.length,
      lost: this.#lost,
      p50Ms: quantile(0.5),
      p99Ms: quantile(0.99),
      maxMs: sorted.at(-1) ?? 0,
      failures: this.#failures,
      texts: this.#texts,
    };
    this.#latenciesMs = [];
    this.#lost = 0;
    this.#failures = 0;
    this.#texts = [];
    return report;
  }
}

/** A client that runs until it is stopped. */
export interface PoliteClient {
  readonly watch: Watch;
  /** Waits for outstanding responses, at most `limitMs`. */
  stop(limitMs: number): Promise<void>;
}

/**
 * Runs `request` at a fixed rate, one at a time. The latency counts from the scheduled time, so that requests that
 * wait for a slow one count, too.
 */
export function atRate(watch: Watch, perSecond: number, request: () => Promise<void>): PoliteClient {
  const periodMs = 1_000 / perSecond;
  let isStopped = false;
  let isWaiting = false;
  const run = async (): Promise<void> => {
    for (let dueMs = performance.now(); !isStopped; dueMs += periodMs) {
      const earlyMs = dueMs - performance.now();
      if (earlyMs > 0) await pause(earlyMs);
      isWaiting = true;
      try {
        await request();
        watch.answered(performance.now() - dueMs);
      } catch (error) {
        watch.failed(error);
      }
      isWaiting = false;
    }
  };
  const ended = run();
  return {
    watch,
    async stop(limitMs) {
      isStopped = true;
      await within(limitMs, ended);
      if (isWaiting) watch.failed(`no response within ${limitMs} ms`);
    },
  };
}

/** Waits for a promise, at most `limitMs`. */
async function within(limitMs: number, ended: Promise<unknown>): Promise<void> {
  const limit = new AbortController();
  await Promise.race([ended, pause(limitMs, undefined, { signal: limit.signal }).catch(() => undefined)]);
  limit.abort();
}
