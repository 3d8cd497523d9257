/** Persists the learned state across restarts: restored at the start, stored every ten minutes and at the end. */

import { randomInt } from 'node:crypto';
import { inBackground } from '../../platform/background/index.ts';
import type { Log } from '../../platform/logging/index.ts';
import { SerialQueue } from '../../platform/serialQueue/index.ts';
import { AttackDetector, type DetectorOptions, type ProfileStore } from '../detector/index.ts';

const WORD = 2 ** 32;
/** An attack's start and end are detected at this interval and stored at once. */
const ATTACK_CHECK_MS = 1000;
/** Interval for storing the profile: a crash loses at most ten minutes of a week of learning. */
const SAVE_MS = 10 * 60_000;

interface ProfileDependencies {
  readonly profileStore: ProfileStore | undefined;
  readonly log: Log;
}

/** Returns a detector with the stored state and the stored hash key, because stored names are hashed with this key. */
export function restoreDetector(
  options: Partial<DetectorOptions> | undefined,
  { profileStore, log }: ProfileDependencies,
): AttackDetector {
  const nowMs = Date.now();
  const stored = profileStore?.load();
  const key = stored?.learned.hashKey ?? { high: randomInt(WORD), low: randomInt(WORD) };
  const detector = new AttackDetector(key, options, nowMs);
  if (stored === undefined) return detector;
  detector.restore(stored.learned, nowMs);
  detector.restoreNames(stored.entries);
  log.info({ names: detector.profile.size }, 'restored the profile of an earlier run');
  return detector;
}

/** Stores the detector's learned state periodically; `stop` stores it a last time. */
export function persistProfile(
  detector: AttackDetector,
  { profileStore, log }: ProfileDependencies,
): { stop(): Promise<void> } {
  if (profileStore === undefined) return { async stop() {} };
  const saves = new SerialQueue();
  const stored = (save: () => Promise<void>): Promise<void> =>
    saves.run(save).catch((error: unknown) => log.warn({ error: String(error) }, 'cannot store the profile'));
  const save = () =>
    stored(() => profileStore.save(detector.learned(Date.now()), detector.profile.entries()));
  // If the process is killed during an attack, the store must already contain the attack and its thresholds.
  let attack = detector.attack;
  const checkAttack = (): void => {
    if (detector.attack === attack) return;
    attack = detector.attack;
    inBackground('DNS profile', () => stored(() => profileStore.saveLearned(detector.learned(Date.now()))));
  };
  const timers = [
    setInterval(() => inBackground('DNS profile', save), SAVE_MS),
    setInterval(checkAttack, ATTACK_CHECK_MS),
  ];
  for (const timer of timers) timer.unref();
  return {
    async stop() {
      for (const timer of timers) clearInterval(timer);
      await save();
    },
  };
}
