import { statfsSync } from 'node:fs';
import { resolve } from 'node:path';
import { Gauge, type Registry } from 'prom-client';
import type { Log } from '../../platform/logging/index.ts';
import { gaugesOf } from '../../platform/metrics/index.ts';

const INTERVAL_MS = 2_000;
const MIN_FLOOR_BYTES = 1024 * 1024 * 1024;
const FLOOR_SHARE = 0.05;
/** Limit of the floor as a share of the file system, so that a small file system can be used at all. */
const MAX_FLOOR_SHARE = 0.5;
/** Writing resumes above the limit times this factor, so that it does not stop and resume at each check. */
const RESUME_FACTOR = 1.1;

/**
 * Data that is not written if the file system is nearly full, with the share of the floor below which writing stops.
 * The rest of the floor is the reserve of rules, tokens, audit, API keys, profile and attacks.
 */
const STOPS_BELOW = { traces: 1, caches: 0.75, analytics: 0.5 } as const;
export type OptionalData = keyof typeof STOPS_BELOW;
const ALL_DATA = Object.keys(STOPS_BELOW) as OptionalData[]; // its keys

export interface FileSystemSpace {
  /** Bytes that users other than root may write. */
  readonly freeBytes: number;
  readonly totalBytes: number;
}

export interface FreeSpaceOptions {
  readonly dataDir: string;
  readonly log: Log;
  /** Reads the space of the file system of a folder. Default: statfs. */
  readonly readSpace?: ((folder: string) => FileSystemSpace) | undefined;
}

/** Monitors the free space of the data folder's file system, and decides which data may be written. */
export class FreeSpace {
  readonly #options: FreeSpaceOptions;
  readonly #timer: NodeJS.Timeout;
  readonly #stopped = new Set<OptionalData>();
  #space: FileSystemSpace = { freeBytes: 0, totalBytes: 0 };

  constructor(options: FreeSpaceOptions) {
    this.#options = options;
    this.check();
    this.#timer = setInterval(() => this.check(), INTERVAL_MS).unref();
  }

  get freeBytes(): number {
    return this.#space.freeBytes;
  }

  /** Bytes of free space below which writing of traces stops. */
  get floorBytes(): number {
    const { totalBytes } = this.#space;
    return Math.floor(
      Math.min(Math.max(MIN_FLOOR_BYTES, FLOOR_SHARE * totalBytes), MAX_FLOOR_SHARE * totalBytes),
    );
  }

  allows(data: OptionalData): boolean {
    return !this.#stopped.has(data);
  }

  /** Describes which data is not written; undefined if all is. The text is constant while the state is. */
  get problem(): string | undefined {
    if (this.#stopped.size === 0) return undefined;
    const stopped = ALL_DATA.filter((data) => this.#stopped.has(data)).join(', ');
    return `writing of ${stopped} has stopped: less than ${this.floorBytes} bytes are free on the file system of the data folder`;
  }

  check(): void {
    const { dataDir, readSpace = spaceOf, log } = this.#options;
    try {
      this.#space = readSpace(dataDir);
    } catch {
      return; // The data folder was removed. The watch of the stores reports that.
    }
    const { freeBytes, floorBytes } = this;
    const before = [...this.#stopped];
    for (const data of ALL_DATA) {
      const limit = STOPS_BELOW[data] * floorBytes;
      if (freeBytes < limit) this.#stopped.add(data);
      else if (freeBytes >= limit * RESUME_FACTOR) this.#stopped.delete(data);
    }
    const [stopped, resumed] = [
      [...this.#stopped].filter((data) => !before.includes(data)),
      before.filter((data) => !this.#stopped.has(data)),
    ];
    const state = { dataDir: resolve(dataDir), freeBytes, floorBytes };
    if (stopped.length > 0)
      log.error({ ...state, stopped, advice: ADVICE }, 'disk nearly full: writing stopped');
    if (resumed.length > 0) log.info({ ...state, resumed }, 'disk has space again: writing resumed');
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}

const ADVICE =
  'free disk space, or move the data folder to a larger disk (docs/operate/monitoring.md#disk-space); no restart is needed';

function spaceOf(folder: string): FileSystemSpace {
  const { bavail, blocks, bsize } = statfsSync(folder);
  return { freeBytes: bavail * bsize, totalBytes: blocks * bsize };
}

/** Registers gauges for the free space, its floor, and the data that is not written. */
export function registerFreeSpaceMetrics(registry: Registry, space: FreeSpace): void {
  const gauge = gaugesOf(registry);
  gauge(
    'floodgate_disk_free_bytes',
    'Free bytes of the file system of the data folder.',
    () => space.freeBytes,
  );
  gauge(
    'floodgate_disk_floor_bytes',
    'Free bytes below which the server stops to write traces.',
    () => space.floorBytes,
  );
  new Gauge({
    name: 'floodgate_disk_writing_stopped',
    help: '1 while data of this kind is not written because the disk is nearly full.',
    labelNames: ['data'],
    registers: [registry],
    collect() {
      for (const data of ALL_DATA) this.set({ data }, Number(!space.allows(data)));
    },
  });
}
