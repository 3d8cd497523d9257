/** Logs the start and the end of each attack, and keeps the record of the attack in the attack store. */

import { randomUUID } from 'node:crypto';
import { inBackground } from '../../platform/background/index.ts';
import type { Log } from '../../platform/logging/index.ts';
import { SerialQueue } from '../../platform/serialQueue/index.ts';
import {
  type Attack,
  type AttackEvent,
  AttackLog,
  type AttackStore,
  RETENTION_DAYS,
} from '../attacks/index.ts';
import type { AttackDetector, SampleBatch } from '../detector/index.ts';

const DAY_MS = 24 * 3_600_000;
/** Interval at which active attacks are stored. An attack is also stored at once when it starts or ends. */
const SAVE_MS = 10_000;
const FORGET_MS = 3_600_000;
const MAX_ZONES_NAMED = 10;

export interface TrackAttacksDependencies {
  readonly detector: AttackDetector;
  readonly attackStore: AttackStore | undefined;
  readonly log: Log;
  /** Called when an attack has started, changed or ended. */
  readonly onAttack?: ((event: AttackEvent) => void) | undefined;
}

export interface AttackTracker {
  open(): readonly Attack[];
  get(id: string): Attack | undefined;
  tick(nowMs: number, samples: readonly SampleBatch[]): void;
  /** Stores the active attacks a last time, so that the guard continues them after its next start. */
  stop(): Promise<void>;
}

export function trackAttacks({
  detector,
  attackStore,
  log,
  onAttack = () => undefined,
}: TrackAttacksDependencies): AttackTracker {
  const options = attackStore?.unfinished(Date.now() - DAY_MS);
  const attacks = new AttackLog(options ?? {}, { detector, newId: randomUUID });
  const saves = new SerialQueue();
  let savedMs = 0;
  let isSaving = false;
  let forgotMs = 0;
  const stored = (work: () => Promise<void>): Promise<void> =>
    saves.run(work).catch((error: unknown) => log.warn({ error: String(error) }, 'cannot store an attack'));
  const forget = (nowMs: number): void => {
    if (attackStore === undefined || Math.abs(nowMs - forgotMs) < FORGET_MS) return;
    forgotMs = nowMs;
    inBackground('attack store', () =>
      stored(() => attackStore.deleteAttacks(nowMs - RETENTION_DAYS * DAY_MS)),
    );
  };
  const save = async (changed: readonly Attack[]): Promise<void> => {
    if (attackStore === undefined || changed.length === 0) return;
    isSaving = true;
    await stored(() => attackStore.putAttacks(changed));
    isSaving = false;
  };
  return {
    open: () => attacks.open(),
    get: (id) => attacks.get(id),
    tick(nowMs, samples) {
      const events = attacks.tick(nowMs, samples);
      for (const event of events) {
        logAttack(event, log);
        onAttack(event);
      }
      const urgent = events.filter(({ kind }) => kind !== 'changed').map(({ attack }) => attack);
      // While a write to the store is in progress, only starts and ends of attacks are queued.
      const isDue = !isSaving && Math.abs(nowMs - savedMs) >= SAVE_MS;
      if (isDue) savedMs = nowMs;
      const lasting = isDue
        ? attacks.open().filter(({ id }) => !urgent.some((other) => other.id === id))
        : [];
      inBackground('attack store', () => save([...urgent, ...lasting]));
      forget(nowMs);
    },
    async stop() {
      await save(attacks.open());
      await saves.idle();
    },
  };
}

/** Logs the start or end of an attack. Zone names are escaped, so they cannot contain control characters. */
function logAttack({ kind, attack }: AttackEvent, log: Log): void {
  const { id, zones, zone_count, detected_by, rule, now, peak } = attack;
  const subject = { attack: id, zones: zones.slice(0, MAX_ZONES_NAMED), zoneCount: zone_count };
  if (kind === 'started')
    log.warn(
      {
        ...subject,
        detectedBy: detected_by,
        queriesPerSecond: now.queries,
        unknownPerSecond: now.unknown_names,
        limitedPerSecond: now.limited,
        wouldDropPerSecond: now.would_drop,
        rule: rule?.id ?? '',
        mode: rule?.mode ?? 'none',
      },
      'attack started',
    );
  if (kind === 'ended')
    log.warn(
      {
        ...subject,
        seconds: Math.round((Date.parse(attack.last_seen_on) - Date.parse(attack.started_on)) / 1000),
        queries: attack.queries,
        limited: attack.limited,
        wouldDrop: attack.would_drop,
        peakPerSecond: peak.queries,
      },
      'attack ended',
    );
}
