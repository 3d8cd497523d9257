/** Adds the names of the configured zones to the profile: reads each zone at the start and after each change. */

import { setMaxListeners } from 'node:events';
import type { ServerAddress } from '../../platform/addresses/index.ts';
import { awaitedLater, inBackground } from '../../platform/background/index.ts';
import type { Log } from '../../platform/logging/index.ts';
import { type AttackDetector, type SeedResult, ZoneSeed } from '../detector/index.ts';
import { nameToText, nameToWire } from '../protocol/index.ts';
import { inTimeSlices, TimeSlices } from './timeSlices.ts';
import type { TsigKey } from './tsigKey.ts';
import { changedInPlace, versionOfFiles, ZoneFile } from './zoneFile.ts';
import { ZoneSlots } from './zoneSlots.ts';
import { serialOf, transferZone } from './zoneTransfer.ts';

/** A zone, and the source from which its names are read: a zone file, or a transfer from a server. */
export type ZoneSource =
  | { readonly name: string; readonly file: string }
  | { readonly name: string; readonly transferFrom: ServerAddress; readonly key?: TsigKey | undefined };

/** Interval of checks whether a zone has changed. A check is a `stat` of its files, or an SOA query to its server. */
const CHECK_MS = 2000;
/**
 * Minimum time between two checks at one server. An SOA query uses a TCP port for a minute after its end, of about
 * 28,000 for one server.
 */
const MS_PER_SERVER_CHECK = 10;
/** Maximum interval of these checks. The interval doubles with each consecutive failure. */
const MAX_CHECK_MS = 16_000;
/** If no data of a zone arrives for this time, another zone may be read too. Data that arrives later is accepted. */
const STALL_MS = 1000;

export interface ZoneSeeding {
  /** Starts reading the zones. Before this call, the detector already knows that they will be seeded. */
  start(): void;
  /** Returns the zones that have not been read completely yet, in the order of the configuration. */
  missing(): readonly UnseededZone[];
  readonly busy: boolean;
  /** Resolves after one attempt to read each zone. Then `missing` returns the zones that failed, with reasons. */
  readonly tried: Promise<void>;
  /** Aborts all reads and checks. Afterwards, no name is added to the profile. */
  stop(): void;
}

export interface SeedDependencies {
  readonly detector: AttackDetector;
  readonly log: Log;
  /** Called for each name that is added to the profile. `owner`: the name in wire form. */
  readonly onName?: ((owner: Uint8Array) => void) | undefined;
  /** Called when all names of a zone are in the profile. */
  readonly onSeeded?: () => void;
}

export interface UnseededZone {
  readonly zone: string;
  /** Why the last attempt to read the zone failed. Undefined during the first attempt. */
  readonly reason: string | undefined;
}

/**
 * Returns an object that adds the names of all zones to the profile after {@link ZoneSeeding.start}, and then checks
 * the zones for changes. If a zone cannot be read, the profile keeps the previous names of the zone, the reason is
 * logged, and the read is retried.
 */
export function seedZones(sources: readonly ZoneSource[], dependencies: SeedDependencies): ZoneSeeding {
  const { detector, log } = dependencies;
  const abort = new AbortController();
  // Each transfer adds a listener to the signal, and removes it again. Many zones must not cause a warning.
  setMaxListeners(0, abort.signal);
  const parts: Parts = {
    ...dependencies,
    slots: new ZoneSlots(),
    turns: new TimeSlices(),
    signal: abort.signal,
  };
  for (const { name } of sources) detector.expectSeed(name);
  const zonesOf = new Map<string, number>();
  for (const source of sources) zonesOf.set(serverOf(source), (zonesOf.get(serverOf(source)) ?? 0) + 1);
  const followers = sources.map((source) => {
    const zones = 'file' in source ? 0 : (zonesOf.get(serverOf(source)) ?? 0);
    return new ZoneSeeder(source, parts, Math.max(CHECK_MS, zones * MS_PER_SERVER_CHECK));
  });
  return {
    start() {
      if (followers.length > 0) log.info({ zones: followers.length }, 'reading zones');
      for (const follower of followers) follower.start();
    },
    missing: () =>
      followers
        .filter(({ known }) => !known)
        .map(({ source, failure }) => ({ zone: source.name, reason: failure })),
    get busy() {
      return followers.some(({ busy }) => busy);
    },
    tried: awaitedLater(Promise.all(followers.map(({ tried }) => tried)).then(() => {})),
    stop() {
      abort.abort();
      for (const follower of followers) follower.stop();
    },
  };
}

interface Parts extends SeedDependencies {
  readonly slots: ZoneSlots;
  readonly turns: TimeSlices;
  readonly signal: AbortSignal;
}

/** Adds the names of one zone to the profile, and again each time the zone has changed. */
class ZoneSeeder {
  readonly source: ZoneSource;
  known = false;
  busy = false;
  failure: string | undefined;
  readonly tried: Promise<void>;
  readonly #parts: Parts;
  readonly #checkMs: number;
  #onTried: () => void = () => {};
  #version: string | undefined;
  /** Version at the last check. */
  #seen = '';
  /** Paths of the zone file and the files that it includes. Empty if the zone is transferred. */
  #paths: readonly string[];
  #failures = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(source: ZoneSource, parts: Parts, checkMs: number) {
    this.source = source;
    this.#parts = parts;
    this.#checkMs = checkMs;
    this.#paths = 'file' in source ? [source.file] : [];
    this.tried = new Promise((resolve) => {
      this.#onTried = resolve;
    });
  }

  start(): void {
    inBackground('zone seeding', () => this.#round());
  }

  /** Cancels the next check. A check that is in progress ends because of the abort signal. */
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
    const retryMs = Math.min(MAX_CHECK_MS, CHECK_MS * 2 ** Math.max(0, this.#failures - 1));
    const waitMs = Math.max(this.#checkMs, retryMs);
    this.#timer = setTimeout(() => inBackground('zone seeding', () => this.#round()), waitMs);
    this.#timer.unref();
  }

  async #check(onProgress: () => void): Promise<void> {
    const { log, signal, onSeeded } = this.#parts;
    try {
      const version = await this.#versionNow();
      // Names below a wildcard that is not written yet would count as random names.
      const isBeingWritten = changedInPlace(this.#seen, version);
      this.#seen = version;
      if (isBeingWritten) return;
      if (version !== this.#version) {
        const startedMs = performance.now();
        const seeded = await this.#seed(version, onProgress);
        const seconds = Math.round((performance.now() - startedMs) / 100) / 10;
        log.info({ ...seeded, seconds }, 'zone seeded');
        if (seeded.skipped > 0)
          log.warn(
            { zone: seeded.zone, names: seeded.names, skipped: seeded.skipped },
            'profile full: some names of the zone are unknown, and the zone is judged by rate; raise dns.maxNames',
          );
        onSeeded?.();
      }
      this.known = true;
      this.failure = undefined;
      this.#failures = 0;
    } catch (error) {
      if (!signal.aborted) this.#fail(error instanceof Error ? error.message : String(error));
    }
  }

  /** Returns a text that changes when the zone changes: its serial, or the versions of its files. */
  async #versionNow(): Promise<string> {
    const { source } = this;
    if ('file' in source) return versionOfFiles(this.#paths);
    const { signal } = this.#parts;
    return String(await serialOf(source.name, source.transferFrom, { key: source.key, signal }));
  }

  /** Adds the names of the zone. `version`: version of a transferred zone. */
  async #seed(version: string, onProgress: () => void): Promise<SeedResult> {
    const { source } = this;
    const { detector, onName, turns, signal } = this.#parts;
    const { maxNames } = detector.profile.options;
    const seed = new ZoneSeed({ zone: source.name }, { detector, onName });
    const reading =
      'file' in source
        ? new ZoneFile(source.file, source.name, { maxNames, signal })
        : {
            records: () =>
              transferZone(source.name, source.transferFrom, { key: source.key, signal, onProgress }),
            version,
            paths: [],
          };
    const apex = nameToText(nameToWire(source.name));
    let hasSoa = false;
    this.busy = true;
    try {
      for await (const { owner, type } of inTimeSlices<SeedRecord>(reading.records(), turns, onProgress)) {
        signal.throwIfAborted();
        hasSoa ||= type === 'SOA' && nameToText(owner) === apex;
        seed.add(owner, type);
      }
      signal.throwIfAborted();
      // For example, a file that was just emptied to be written again: the guard would judge its wildcards by names.
      if (!hasSoa)
        throw new Error(
          `${'file' in source ? source.file : 'the transfer'} has no SOA record of ${apex}: it is empty, incomplete or of another zone`,
        );
    } catch (error) {
      seed.abandon();
      throw error;
    } finally {
      this.busy = false;
    }
    this.#paths = reading.paths;
    this.#version = reading.version;
    return seed.finish();
  }

  #fail(reason: string): void {
    const { log } = this.#parts;
    this.#failures++;
    // A reason is logged only if it differs from the previous one: a server that is down for a day causes one line.
    if (this.failure !== reason)
      log.warn(
        { zone: this.source.name, reason },
        this.known
          ? 'cannot read zone: keeping its previous names; retrying'
          : 'cannot read zone: its names are not known yet; retrying',
      );
    this.failure = reason;
  }
}

/** The fields of a DNS record that are needed to add its owner to the profile. */
interface SeedRecord {
  readonly owner: Uint8Array;
  readonly type: string;
}

/** Returns the server for which `ZoneSlots` counts a read of the zone. All files count as one server. */
const serverOf = (source: ZoneSource): string =>
  'transferFrom' in source ? `${source.transferFrom.host} ${source.transferFrom.port}` : '';
