import { readdirSync, readFileSync } from 'node:fs';

const SAMPLE_MS = 1_000;
/** A start fills caches and compiles code: the slope is measured behind it. */
const WARM_UP_MS = 30_000;
const BYTES_PER_KB = 1024;
const BYTES_PER_MB = 1_000_000;

/** Kinds of memory by the names that Linux gives them: of its own, of files (an index is mapped into memory), of tmpfs. */
const LINUX_KINDS = ['VmRSS', 'RssAnon', 'RssFile', 'RssShmem'] as const;
/** What V8 says of its part of `RssAnon`, in the program's own metrics; the rest of it is of native code. */
const NODE_KINDS = ['heap_size_total', 'heap_size_used', 'external_memory'] as const;
type Kind = (typeof LINUX_KINDS)[number] | (typeof NODE_KINDS)[number];
type Point = readonly [atMs: number, megabytes: number];

/** Memory and descriptors of a process, each second. */
export class MemoryWatch {
  readonly #pid: number;
  readonly #metricsUrl: string;
  readonly #points = new Map<Kind, Point[]>([...LINUX_KINDS, ...NODE_KINDS].map((kind) => [kind, []]));
  readonly #descriptors: number[] = [];
  readonly #timer: NodeJS.Timeout;
  readonly #startedMs = performance.now();

  /** `url` is where the process answers `/metrics`. */
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
      // It has just ended.
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

  /** Descriptors at the beginning and at the end. */
  get descriptors(): readonly [number, number] {
    return [this.#descriptors[0] ?? 0, this.#descriptors.at(-1) ?? 0];
  }

  /** Of each kind: at the beginning, at the end, and by how much it grew a minute behind the warm-up (least squares). */
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
