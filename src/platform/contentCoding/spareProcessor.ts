import { availableParallelism } from 'node:os';

/** What this process has used since it began, in milliseconds. */
export interface Usage {
  readonly atMs: number;
  /** Time in which its main thread did not wait for events. */
  readonly activeMs: number;
  /** Processor time of all its threads. */
  readonly cpuMs: number;
}

export interface SpareProcessorOptions {
  readonly processors?: number;
  readonly usage?: () => Usage;
}

/** What was used is looked at over at least this long. */
const WINDOW_MS = 500;
/** Of its main thread and of all processors, so much may be in use where there is some to spare. */
const MAX_SHARE = 0.7;

/** Whether this process has processor time to spare, for what makes it better but need not be. Nothing is done where nobody asks. */
export class SpareProcessor {
  readonly #processors: number;
  readonly #usage: () => Usage;
  #before: Usage;
  #hasSome = true;

  constructor({ processors = availableParallelism(), usage = usageNow }: SpareProcessorOptions = {}) {
    this.#processors = processors;
    this.#usage = usage;
    this.#before = usage();
  }

  /** As of the last half second in which anybody asked. */
  get hasSome(): boolean {
    if (performance.now() - this.#before.atMs < WINDOW_MS) return this.#hasSome;
    const now = this.#usage();
    const elapsedMs = now.atMs - this.#before.atMs;
    const activeShare = (now.activeMs - this.#before.activeMs) / elapsedMs;
    const cpuShare = (now.cpuMs - this.#before.cpuMs) / (elapsedMs * this.#processors);
    this.#before = now;
    this.#hasSome = activeShare <= MAX_SHARE && cpuShare <= MAX_SHARE;
    return this.#hasSome;
  }
}

const MICROSECONDS_PER_MS = 1_000;

function usageNow(): Usage {
  const { user, system } = process.cpuUsage();
  const { active } = performance.eventLoopUtilization();
  return { atMs: performance.now(), activeMs: active, cpuMs: (user + system) / MICROSECONDS_PER_MS };
}
