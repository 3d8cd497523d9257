/** What was learned, over a restart: put back at the start, stored every ten minutes and at the end. */
import { randomInt } from 'node:crypto';
import type { Log } from '../../platform/logging/index.ts';
import { SerialQueue } from '../../platform/serialQueue/index.ts';
import { AttackDetector, type DetectorOptions, type ProfileStore } from '../detector/index.ts';

const WORD = 2 ** 32;
/** An attack that begins or ends is stored within this. */
const ATTACK_CHECK_MS = 1000;
/** What a crash costs: ten minutes of learning, of a week. */
const SAVE_MS = 10 * 60_000;

interface ProfileDependencies {
  readonly profileStore: ProfileStore | undefined;
  readonly log: Log;
}

/** A detector that knows what is stored, under the key that the stored names are hashed with. */
export function restoredDetector(
  options: Partial<DetectorOptions> | undefined,
  { profileStore, log }: ProfileDependencies,
): AttackDetector {
  const nowMs = Date.now();
  const stored = profileStore?.load();
  const key = stored?.learned.hashKey ?? { high: randomInt(WORD), low: randomInt(WORD) };
  const detector = new AttackDetector(key, options, nowMs);
  if (stored === undefined) return detector;
  detector.restore(stored.learned, nowMs);
  detector.restoreNames(stored.entries, stored.learned, nowMs);
  log.info({ names: detector.profile.size }, 'what an earlier run learned is known again');
  return detector;
}

/** Stores what the detector has learned from now on; `stop` stores it a last time. */
export function persistProfile(
  detector: AttackDetector,
  { profileStore, log }: ProfileDependencies,
): { stop(): Promise<void> } {
  if (profileStore === undefined) return { async stop() {} };
  const saves = new SerialQueue();
  const stored = (save: () => Promise<void>): Promise<void> =>
    saves
      .run(save)
      .catch((error: unknown) => log.warn({ error: String(error) }, 'what was learned could not be stored'));
  const save = () =>
    stored(() => profileStore.save(detector.learned(Date.now()), detector.profile.entries()));
  // A run that is killed in the middle of an attack leaves behind that there is one, and its thresholds.
  let attack = detector.attack;
  const checkAttack = (): void => {
    if (detector.attack === attack) return;
    attack = detector.attack;
    void stored(() => profileStore.saveLearned(detector.learned(Date.now())));
  };
  const timers = [setInterval(save, SAVE_MS), setInterval(checkAttack, ATTACK_CHECK_MS)];
  for (const timer of timers) timer.unref();
  return {
    async stop() {
      for (const timer of timers) clearInterval(timer);
      await save();
    },
  };
}
