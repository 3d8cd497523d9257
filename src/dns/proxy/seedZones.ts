/** Keeps the profile in step with the zones that are named in the configuration: read at the start and when they change. */
import { readFile, stat } from 'node:fs/promises';
import { readMasterFile } from '../authority/index.ts';
import type { Judge } from '../judge.ts';
import { type SeedResult, ZoneSeed } from '../zoneSeed.ts';
import type { ServerAddress } from './backend.ts';
import type { GuardLog } from './guard.ts';
import { serialOf, transferZone } from './zoneTransfer.ts';

/** A zone and where its names come from. */
export type ZoneSource =
  | { readonly name: string; readonly file: string }
  | { readonly name: string; readonly transferFrom: ServerAddress };

/** How soon a new name is known: a stat of a file, or one small query to a server of ours. */
const CHECK_MS = 2000;
/** So many records are put into the profile before packets are looked at again: some two milliseconds. */
const RECORDS_A_SLICE = 500;

export interface ZoneSeeding {
  /** Checks at once whether zones changed; resolves when the profile is in step. */
  check(): Promise<void>;
  stop(): void;
}

/**
 * Seeds every zone and keeps checking. A zone that cannot be read at the start or later is logged, keeps the names it had,
 * and is tried again.
 */
export async function seedZones(
  sources: readonly ZoneSource[],
  judge: Judge,
  log: GuardLog,
  onName: (owner: Uint8Array) => void = () => {},
): Promise<ZoneSeeding> {
  const versions = new Map<ZoneSource, string>();
  const failures = new Map<ZoneSource, string>();
  const check = async (): Promise<void> => {
    for (const source of sources) {
      try {
        const version = await versionOf(source);
        if (version === versions.get(source)) continue;
        const seeded = await seedZone(source, judge, onName);
        versions.set(source, version);
        failures.delete(source);
        log.info(seeded, 'the names of the zone are known');
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        // Once for each new reason: a server that is away for a day makes one line.
        if (failures.get(source) !== reason)
          log.warn({ zone: source.name, reason }, 'the zone cannot be read: its names stay as they are');
        failures.set(source, reason);
      }
    }
  };
  await check();
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  const again = (): void => {
    if (stopped) return;
    timer = setTimeout(() => void check().then(again), CHECK_MS);
    timer.unref();
  };
  if (sources.length > 0) again();
  return {
    check,
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}

async function versionOf(source: ZoneSource): Promise<string> {
  if ('transferFrom' in source) return String(await serialOf(source.name, source.transferFrom));
  const { mtimeMs, size, ino } = await stat(source.file);
  return `${mtimeMs} ${size} ${ino}`;
}

async function seedZone(
  source: ZoneSource,
  judge: Judge,
  onName: (owner: Uint8Array) => void,
): Promise<SeedResult> {
  const records =
    'transferFrom' in source
      ? transferZone(source.name, source.transferFrom)
      : readMasterFile(await readFile(source.file, 'utf8'), source.name);
  const seed = new ZoneSeed(judge, source.name, Date.now(), onName);
  let slice = 0;
  for await (const { owner, type } of records) {
    seed.add(owner, type);
    if (++slice % RECORDS_A_SLICE === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  return seed.finish();
}
