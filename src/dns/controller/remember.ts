/** Puts back what an earlier run learned, and stores what this one learns. */
import { randomInt } from 'node:crypto';
import type { MinuteRecord, QueryStatsStore } from '../analytics/index.ts';
import type { GuardLog } from '../dataplane/embedded/index.ts';
import type { AttackDetector, ProfileStore } from '../detector/index.ts';
import type { HashKey } from '../protocol/index.ts';

const WORD = 2 ** 32;
/** What a crash costs: ten minutes of learning, of a week. */
const SAVE_MS = 10 * 60_000;

/** The key of the stored names, or a new one where none are stored. */
export function storedKey(store: ProfileStore | undefined): HashKey {
  return store?.load()?.learned.hashKey ?? { high: randomInt(WORD), low: randomInt(WORD) };
}

/** Puts back what is stored, and saves every ten minutes from then on. Returns how to save a last time and end it. */
export function remember(
  detector: AttackDetector,
  store: ProfileStore | undefined,
  log: GuardLog,
): () => Promise<void> {
  if (store === undefined) return async () => {};
  const stored = store.load();
  if (stored !== undefined) {
    const nowMs = Date.now();
    for (const entry of stored.entries) detector.profile.restore(entry, nowMs);
    detector.restore(stored.learned, nowMs);
    log.info({ names: detector.profile.size }, 'what an earlier run learned is known again');
  }
  let saving = Promise.resolve();
  const save = (): Promise<void> => {
    saving = saving
      .then(() => store.save(detector.learned(Date.now()), detector.profile.entries()))
      .catch((error: unknown) => log.warn({ error: String(error) }, 'what was learned could not be stored'));
    return saving;
  };
  const timer = setInterval(save, SAVE_MS);
  timer.unref();
  return () => {
    clearInterval(timer);
    return save();
  };
}

/** Stores what was counted in a minute. A store that fails costs that minute of analytics, and nothing else. */
export async function keepMinutes(
  records: readonly MinuteRecord[],
  store: QueryStatsStore | undefined,
  log: GuardLog,
): Promise<void> {
  try {
    await store?.append(records);
  } catch (error) {
    log.warn({ error: String(error) }, 'a minute of analytics could not be stored');
  }
}
