/** Keeps the learned state across restarts: restores it at the start, stores it every ten minutes and at the end. */

import { randomInt } from 'node:crypto';
import { inBackground } from '../../platform/background/index.ts';
import type { Log } from '../../platform/logging/index.ts';
import { SerialQueue } from '../../platform/serialQueue/index.ts';
import {
  AttackDetector,
  type DetectorOptions,
  type ProfileStore,
  type StoredProfile,
} from '../detector/index.ts';

const WORD = 2 ** 32;
/** Interval of the check whether an attack has begun or ended. In both cases, the learned state is stored at once. */
const ATTACK_CHECK_MS = 1000;
/** Interval at which the profile is stored. A crash loses at most what was learned in this time. */
const SAVE_MS = 10 * 60_000;

interface ProfileDependencies {
  readonly profileStore: ProfileStore | undefined;
  readonly log: Log;
  /** Returns the time of the last audit entry whose request to forget a zone is part of the state. */
  readonly forgottenUntil: () => string | undefined;
}

/** Returns a detector with the stored state. It also gets the stored hash key, with which stored names are hashed. */
export function restoreDetector(
  options: Partial<DetectorOptions> | undefined,
  { stored, log }: { readonly stored: StoredProfile | undefined; readonly log: Log },
): AttackDetector {
  const nowMs = Date.now();
  const key = stored?.learned.hashKey ?? { high: randomInt(WORD), low: randomInt(WORD) };
  const detector = new AttackDetector(key, options, nowMs);
  if (stored === undefined) return detector;
  detector.restore(stored.learned, nowMs);
  detector.restoreNames(stored.entries);
  log.info({ names: detector.profile.size }, 'restored the profile of an earlier run');
  return detector;
}

/** Stores the learned state of a detector periodically, on `save`, and a last time on `stop`. */
export function persistProfile(
  detector: AttackDetector,
  { profileStore, log, forgottenUntil }: ProfileDependencies,
): { save(): void; stop(): Promise<void> } {
  if (profileStore === undefined) return { save() {}, async stop() {} };
  const saves = new SerialQueue();
  const stored = (save: () => Promise<void>): Promise<void> =>
    saves.run(save).catch((error: unknown) => log.warn({ error: String(error) }, 'cannot store the profile'));
  const save = (): Promise<void> =>
    stored(() =>
      profileStore.save(detector.learned(Date.now()), detector.profile.entries(), forgottenUntil()),
    );
  // When an attack begins, it is stored at once with its thresholds, in case the process is killed during the attack.
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
    save: () => inBackground('DNS profile', save),
    async stop() {
      for (const timer of timers) clearInterval(timer);
      await save();
    },
  };
}
