import { readdirSync, readFileSync } from 'node:fs';

const SAMPLE_MS = 1_000;
/** A start fills caches and compiles code: the slope is measured behind it. */
const WARM_UP_MS = 30_000;
const BYTES_PER_KB = 1024;
const BYTES_PER_MB = 1_000_000;

/** Kinds of memory by the names that Linux gives them: of its own, of files (an index is mapped into memory), of tmpfs. */
const KINDS = ['VmRSS', 'RssAnon', 'RssFile', 'RssShmem'] as const;
type Kind = (typeof KINDS)[number];
type Sample = Readonly<Record<Kind, number>> & { readonly atMs: number; readonly descriptors: number };

/** Memory and descriptors of a process, each second. */
export class MemoryWatch {
  readonly #pid: number;
  readonly #samples: Sample[] = [];
  readonly #timer: NodeJS.Timeout;
  readonly #startedMs = performance.now();

  constructor(pid: number) {
    this.#pid = pid;
    this.#sample();
    this.#timer = setInterval(() => this.#sample(), SAMPLE_MS);
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#sample();
  }

  #sample(): void {
    try {
      const status = readFileSync(`/proc/${this.#pid}/status`, 'utf8');
      const mb = (kind: Kind): number =>
        (Number(new RegExp(`${kind}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) * BYTES_PER_KB) / BYTES_PER_MB;
      const [VmRSS, RssAnon, RssFile, RssShmem] = [mb('VmRSS'), mb('RssAnon'), mb('RssFile'), mb('RssShmem')];
      const descriptors = readdirSync(`/proc/${this.#pid}/fd`).length;
      this.#samples.push({ atMs: performance.now(), descriptors, VmRSS, RssAnon, RssFile, RssShmem });
    } catch {
      // It has just ended.
    }
  }

  get seconds(): number {
    return (performance.now() - this.#startedMs) / 1000;
  }

  /** Descriptors at the beginning and at the end. */
  get descriptors(): readonly [number, number] {
    return [this.#samples[0]?.descriptors ?? 0, this.#samples.at(-1)?.descriptors ?? 0];
  }

  /** Of each kind: at the beginning, at the end, and by how much it grew a minute behind the warm-up (least squares). */
  rows(): ReadonlyArray<{ kind: Kind; firstMb: number; lastMb: number; mbPerMinute: number }> {
    const warm = this.#samples.filter(({ atMs }) => atMs - this.#startedMs > WARM_UP_MS);
    return KINDS.map((kind) => ({
      kind,
      firstMb: this.#samples[0]?.[kind] ?? 0,
      lastMb: this.#samples.at(-1)?.[kind] ?? 0,
      mbPerMinute: slope(warm.map((sample) => [sample.atMs / 60_000, sample[kind]])),
    }));
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
