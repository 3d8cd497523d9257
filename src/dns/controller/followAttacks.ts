/** Follows attacks while the guard runs: one line of log where one begins and ends, and what is known of it in the store. */
import { randomUUID } from 'node:crypto';
import type { Log } from '../../platform/logging/index.ts';
import { SerialQueue } from '../../platform/serialQueue/index.ts';
import { type Attack, type AttackEvent, AttackLog, type AttackStore, KEPT_DAYS } from '../attacks/index.ts';
import type { AttackDetector, SampleBatch } from '../detector/index.ts';

const DAY_MS = 24 * 3_600_000;
/** What a kill costs: so much of what was counted of an attack that lasts. That there is one is stored at once. */
const SAVE_MS = 10_000;
const FORGET_MS = 3_600_000;
/** Zones that a line names. */
const MAX_ZONES_NAMED = 10;

export interface FollowAttacksDependencies {
  readonly detector: AttackDetector;
  readonly attackStore: AttackStore | undefined;
  readonly log: Log;
  /** Hears what begins, changes or ends, beside the log. */
  readonly onAttack?: ((event: AttackEvent) => void) | undefined;
}

/** The attacks of this guard, those that last as they stand now. */
export interface Attacks {
  open(): readonly Attack[];
  get(id: string): Attack | undefined;
  tick(nowMs: number, samples: readonly SampleBatch[]): void;
  /** Stores a last time what lasts: it goes on with the next start. */
  stop(): Promise<void>;
}

export function followAttacks({
  detector,
  attackStore,
  log,
  onAttack = () => undefined,
}: FollowAttacksDependencies): Attacks {
  const options = attackStore?.unfinished(Date.now() - DAY_MS);
  const attacks = new AttackLog(options ?? {}, { detector, newId: randomUUID });
  const saves = new SerialQueue();
  let savedMs = 0;
  let isSaving = false;
  let forgotMs = 0;
  const stored = (work: () => Promise<void>): Promise<void> =>
    saves
      .run(work)
      .catch((error: unknown) => log.warn({ error: String(error) }, 'an attack could not be stored'));
  const forget = (nowMs: number): void => {
    if (attackStore === undefined || Math.abs(nowMs - forgotMs) < FORGET_MS) return;
    forgotMs = nowMs;
    void stored(() => attackStore.forgetAttacks(nowMs - KEPT_DAYS * DAY_MS));
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
        tell(event, log);
        onAttack(event);
      }
      const urgent = events.filter(({ kind }) => kind !== 'changed').map(({ attack }) => attack);
      // A store that is slow is given no more to do while it is at it, but for what would be lost.
      const isDue = !isSaving && Math.abs(nowMs - savedMs) >= SAVE_MS;
      if (isDue) savedMs = nowMs;
      const lasting = isDue
        ? attacks.open().filter(({ id }) => !urgent.some((other) => other.id === id))
        : [];
      void save([...urgent, ...lasting]);
      forget(nowMs);
    },
    async stop() {
      await save(attacks.open());
      await saves.idle();
    },
  };
}

/** Zones are text that the guard writes names in: nothing in them moves a cursor or begins a line. */
function tell({ kind, attack }: AttackEvent, log: Log): void {
  const { id, zones, zone_count, noticed_by, rule, now, peak } = attack;
  const subject = { attack: id, zones: zones.slice(0, MAX_ZONES_NAMED), zoneCount: zone_count };
  if (kind === 'started')
    log.warn(
      {
        ...subject,
        noticedBy: noticed_by,
        queriesPerSecond: now.queries,
        unknownPerSecond: now.unknown_names,
        refusedPerSecond: now.refused,
        rule: rule?.id ?? '',
        mode: rule?.mode ?? 'none',
      },
      'an attack has begun',
    );
  if (kind === 'ended')
    log.warn(
      {
        ...subject,
        seconds: Math.round((Date.parse(attack.last_seen_on) - Date.parse(attack.started_on)) / 1000),
        queries: attack.queries,
        refused: attack.refused,
        wouldRefuse: attack.would_refuse,
        peakPerSecond: peak.queries,
      },
      'the attack is over',
    );
}
