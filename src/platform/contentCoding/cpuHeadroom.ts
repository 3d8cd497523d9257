import { availableParallelism } from 'node:os';

export interface Usage {
  readonly atMs: number;
  /** Time in which the main thread's event loop was active. */
  readonly activeMs: number;
  /** CPU time that all threads of the process have used. */
  readonly cpuMs: number;
}

export interface CpuHeadroomOptions {
  readonly processors?: number;
  readonly usage?: () => Usage;
}

/** Minimum time between two measurements of the CPU time. */
const WINDOW_MS = 500;
/**
 * There is idle CPU time if the event loop was active at most this share of the time, and at most this share of the
 * CPU time of all cores was used.
 */
const MAX_SHARE = 0.7;

/** Reports whether this process has idle CPU time for optional work. Measures only when queried. */
export class CpuHeadroom {
  readonly #processors: number;
  readonly #usage: () => Usage;
  #before: Usage;
  #isAvailable = true;

  constructor({ processors = availableParallelism(), usage = usageNow }: CpuHeadroomOptions = {}) {
    this.#processors = processors;
    this.#usage = usage;
    this.#before = usage();
  }

  get isAvailable(): boolean {
    if (performance.now() - this.#before.atMs < WINDOW_MS) return this.#isAvailable;
    const now = this.#usage();
    const elapsedMs = now.atMs - this.#before.atMs;
    const activeShare = (now.activeMs - this.#before.activeMs) / elapsedMs;
    const cpuShare = (now.cpuMs - this.#before.cpuMs) / (elapsedMs * this.#processors);
    this.#before = now;
    this.#isAvailable = activeShare <= MAX_SHARE && cpuShare <= MAX_SHARE;
    return this.#isAvailable;
  }
}

const MICROSECONDS_PER_MS = 1_000;

function usageNow(): Usage {
  const { user, system } = process.cpuUsage();
  const { active } = performance.eventLoopUtilization();
  return { atMs: performance.now(), activeMs: active, cpuMs: (user + system) / MICROSECONDS_PER_MS };
}
