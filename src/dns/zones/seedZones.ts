/** Keeps the profile in step with the zones that are named in the configuration: read from the start on and when they change. */
import { setMaxListeners } from 'node:events';
// Node loads it for the first who uses it.
import { promises as files } from 'node:fs';
import type { ServerAddress } from '../../platform/addresses/index.ts';
import type { Log } from '../../platform/logging/index.ts';
import { type AttackDetector, type SeedResult, ZoneSeed } from '../detector/index.ts';
import { readMasterFile } from './masterFile.ts';
import { inTurns, SeedTurns } from './seedTurns.ts';
import type { TsigKey } from './tsigKey.ts';
import { ZoneSlots } from './zoneSlots.ts';
import { serialOf, transferZone } from './zoneTransfer.ts';

/** A zone and where its names come from. */
export type ZoneSource =
  | { readonly name: string; readonly file: string }
  | { readonly name: string; readonly transferFrom: ServerAddress; readonly key?: TsigKey | undefined };

/** How soon a new name is known: a stat of a file, or one small query to a server of ours. */
const CHECK_MS = 2000;
/** Twice as long after each failure in a row, up to this. */
const MAX_CHECK_MS = 16_000;
/** A server that says nothing for so long gives its place to the next zone: what it says later is still taken. */
const STALL_MS = 1000;

export interface ZoneSeeding {
  /** Begins to read; until then the zones are only expected. */
  start(): void;
  /** The zones whose names are not known yet, in the order of the configuration. */
  missing(): readonly MissingZone[];
  /** Whether records are being put into the profile. */
  readonly busy: boolean;
  /** Resolves when every zone was tried once: its names are known, or `missing` says why not. */
  readonly tried: Promise<void>;
  /** Breaks off whatever is under way: from now on nothing is put into the profile any more. */
  stop(): void;
}

export interface SeedDependencies {
  readonly detector: AttackDetector;
  readonly log: Log;
  /** Hears of every name, in wire form. */
  readonly onName?: ((owner: Uint8Array) => void) | undefined;
  /** Hears when all names of a zone are in the profile. */
  readonly onSeeded?: () => void;
}

export interface MissingZone {
  readonly zone: string;
  /** Why the last attempt failed; undefined while the first one is under way. */
  readonly reason: string | undefined;
}

/**
 * Seeds every zone, several at a time, and keeps checking, once it is started. Nobody waits for it: a zone whose names are
 * not there yet is judged without them. One that cannot be read, at the start or later, is logged, keeps the names it had, and is tried again.
 */
export function seedZones(sources: readonly ZoneSource[], dependencies: SeedDependencies): ZoneSeeding {
  const { detector, log } = dependencies;
  const abort = new AbortController();
  // Each transfer listens, and each takes its listener back.
  setMaxListeners(0, abort.signal);
  const parts: Parts = {
    ...dependencies,
    slots: new ZoneSlots(),
    turns: new SeedTurns(),
    signal: abort.signal,
  };
  for (const { name } of sources) detector.expectSeed(name);
  const followers = sources.map((source) => new ZoneFollower(source, parts));
  return {
    start() {
      if (followers.length > 0) log.info({ zones: followers.length }, 'reading the names of the zones');
      for (const follower of followers) follower.start();
    },
    missing: () =>
      followers
        .filter(({ known }) => !known)
        .map(({ source, failure }) => ({ zone: source.name, reason: failure })),
    get busy() {
      return followers.some(({ busy }) => busy);
    },
    tried: Promise.all(followers.map(({ tried }) => tried)).then(() => {}),
    stop() {
      abort.abort();
      for (const follower of followers) follower.stop();
    },
  };
}

interface Parts extends SeedDependencies {
  readonly slots: ZoneSlots;
  readonly turns: SeedTurns;
  readonly signal: AbortSignal;
}

/** One zone: read when it is new or has changed, and looked at again and again. */
class ZoneFollower {
  readonly source: ZoneSource;
  known = false;
  busy = false;
  failure: string | undefined;
  readonly tried: Promise<void>;
  readonly #parts: Parts;
  #onTried: () => void = () => {};
  #version: string | undefined;
  #failures = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(source: ZoneSource, parts: Parts) {
    this.source = source;
    this.#parts = parts;
    this.tried = new Promise((resolve) => {
      this.#onTried = resolve;
    });
  }

  start(): void {
    void this.#round();
  }

  /** The signal ends what is under way. */
  stop(): void {
    clearTimeout(this.#timer);
  }

  async #round(): Promise<void> {
    const { slots, signal } = this.#parts;
    const release = await slots.take(serverOf(this.source));
    if (signal.aborted) return release();
    const stalled = setTimeout(release, STALL_MS);
    await this.#check(() => stalled.refresh());
    clearTimeout(stalled);
    release();
    this.#onTried();
    if (signal.aborted) return;
    const waitMs = Math.min(MAX_CHECK_MS, CHECK_MS * 2 ** Math.max(0, this.#failures - 1));
    this.#timer = setTimeout(() => void this.#round(), waitMs);
    this.#timer.unref();
  }

  async #check(onProgress: () => void): Promise<void> {
    const { log, signal, onSeeded } = this.#parts;
    try {
      const version = await versionOf(this.source, signal);
      if (version !== this.#version) {
        const startedMs = performance.now();
        const seeded = await this.#seed(onProgress);
        const seconds = Math.round((performance.now() - startedMs) / 100) / 10;
        log.info({ ...seeded, seconds }, 'the names of the zone are known');
        if (seeded.noRoom > 0)
          log.warn(
            { zone: seeded.zone, names: seeded.names, noRoom: seeded.noRoom },
            'the profile has no room for all names of the zone: the others are judged by rate; raise dns.maxNames',
          );
        onSeeded?.();
      }
      this.#version = version;
      this.known = true;
      this.failure = undefined;
      this.#failures = 0;
    } catch (error) {
      if (!signal.aborted) this.#fail(error instanceof Error ? error.message : String(error));
    }
  }

  async #seed(onProgress: () => void): Promise<SeedResult> {
    const { detector, onName, turns, signal } = this.#parts;
    const seed = new ZoneSeed({ zone: this.source.name }, { detector, onName });
    this.busy = true;
    try {
      const records = await recordsOf(this.source, signal, onProgress);
      for await (const { owner, type } of inTurns(records, turns, onProgress)) {
        signal.throwIfAborted();
        seed.add(owner, type);
      }
    } finally {
      this.busy = false;
    }
    signal.throwIfAborted();
    return seed.finish();
  }

  #fail(reason: string): void {
    const { log } = this.#parts;
    this.#failures++;
    // Once for each new reason: a server that is away for a day makes one line.
    if (this.failure !== reason)
      log.warn(
        { zone: this.source.name, reason },
        this.known
          ? 'the zone cannot be read: its names stay as they are; tried again'
          : 'the zone cannot be read: its names are not known yet; tried again',
      );
    this.failure = reason;
  }
}

/** Whose load and whose hanging it is: files are one server more. */
const serverOf = (source: ZoneSource): string =>
  'transferFrom' in source ? `${source.transferFrom.host} ${source.transferFrom.port}` : '';

async function versionOf(source: ZoneSource, signal: AbortSignal): Promise<string> {
  if ('transferFrom' in source)
    return String(await serialOf(source.name, source.transferFrom, { key: source.key, signal }));
  const { mtimeMs, size, ino } = await files.stat(source.file);
  return `${mtimeMs} ${size} ${ino}`;
}

/** What a seed needs of a record, wherever that was read. */
interface SeedRecord {
  readonly owner: Uint8Array;
  readonly type: string;
}

async function recordsOf(
  source: ZoneSource,
  signal: AbortSignal,
  onProgress: () => void,
): Promise<Iterable<SeedRecord> | AsyncIterable<SeedRecord>> {
  if ('transferFrom' in source)
    return transferZone(source.name, source.transferFrom, { key: source.key, signal, onProgress });
  return readMasterFile(await files.readFile(source.file, { encoding: 'utf8', signal }), source.name);
}
