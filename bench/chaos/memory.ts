import { readdirSync, readFileSync } from 'node:fs';

const SAMPLE_MS = 1_000;
/** Caches fill and code is compiled after a start, so the slope is measured later. */
const WARM_UP_MS = 30_000;
const BYTES_PER_KB = 1024;
const BYTES_PER_MB = 1_000_000;

/** Linux' names of kinds of memory: total, anonymous, file-backed (the index is memory-mapped), tmpfs. */
const LINUX_KINDS = ['VmRSS', 'RssAnon', 'RssFile', 'RssShmem'] as const;
/** V8's part of `RssAnon` according to the program's metrics; the rest belongs to native code. */
const NODE_KINDS = ['heap_size_total', 'heap_size_used', 'external_memory'] as const;
type Kind = (typeof LINUX_KINDS)[number] | (typeof NODE_KINDS)[number];
type Point = readonly [atMs: number, megabytes: number];

/** Samples the memory and the descriptors of a process every second. */
export class MemoryWatch {
  readonly #pid: number;
  readonly #metricsUrl: string;
  readonly #points = new Map<Kind, Point[]>([...LINUX_KINDS, ...NODE_KINDS].map((kind) => [kind, []]));
  readonly #descriptors: number[] = [];
  readonly #timer: NodeJS.Timeout;
  readonly #startedMs = performance.now();

  /** `url` is the server with `/metrics`. */
  constructor(pid: number, url: string) {
    this.#pid = pid;
    this.#metricsUrl = `${url}/metrics`;
    this.#sample();
    this.#timer = setInterval(() => this.#sample(), SAMPLE_MS);
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#sample();
  }

  #sample(): void {
    void this.#sampleNode();
    try {
      const status = readFileSync(`/proc/${this.#pid}/status`, 'utf8');
      for (const kind of LINUX_KINDS)
        this.#add(kind, Number(new RegExp(`${kind}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) * BYTES_PER_KB);
      this.#descriptors.push(readdirSync(`/proc/${this.#pid}/fd`).length);
    } catch {
      // The process has just exited.
    }
  }

  async #sampleNode(): Promise<void> {
    const text = await fetch(this.#metricsUrl).then(
      (response) => response.text(),
      () => '',
    );
    for (const kind of NODE_KINDS) {
      const bytes = new RegExp(`^nodejs_${kind}_bytes (\\S+)`, 'm').exec(text)?.[1];
      if (bytes !== undefined) this.#add(kind, Number(bytes));
    }
  }

  #add(kind: Kind, bytes: number): void {
    this.#points.get(kind)?.push([performance.now(), bytes / BYTES_PER_MB]);
  }

  get seconds(): number {
    return (performance.now() - this.#startedMs) / 1000;
  }

  /** Number of descriptors at the beginning and at the end. */
  get descriptors(): readonly [number, number] {
    return [this.#descriptors[0] ?? 0, this.#descriptors.at(-1) ?? 0];
  }

  /** For each kind of memory: first and last sample, and the growth per minute after the warm-up (least squares). */
  rows(): ReadonlyArray<{ kind: Kind; firstMb: number; lastMb: number; mbPerMinute: number }> {
    return [...this.#points].map(([kind, points]) => {
      const warm = points.filter(([atMs]) => atMs - this.#startedMs > WARM_UP_MS);
      return {
        kind,
        firstMb: points[0]?.[1] ?? 0,
        lastMb: points.at(-1)?.[1] ?? 0,
        mbPerMinute: slope(warm.map(([atMs, megabytes]) => [atMs / 60_000, megabytes])),
      };
    });
  }
}

function slope(points: ReadonlyArray<readonly [x: number, y: number]>): number {
  const mean = (values: readonly number[]): number =>
    values.reduce((sum, value) => sum + value, 0) / values.length;
  const x = mean(points.map(([at]) => at));
  const y = mean(points.map(([, value]) => value));
  const above = points.reduce((sum, [at, value]) => sum + (at - x) * (value - y), 0);
  return above / points.reduce((sum, [at]) => sum + (at - x) ** 2, 0);
}
