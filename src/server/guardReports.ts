import { setImmediate } from 'node:timers/promises';
import { isAt, sinceStart, standingOf, whatIf } from '../dns/analytics/index.ts';
import { type Attack, type AttackStore, ruleMet, summaryOf, toldAttack } from '../dns/attacks/index.ts';
import { type Guard, notReady } from '../dns/controller/index.ts';
import type { FleetStore, GuardSelf, PlacedAttack } from '../dns/fleet/index.ts';
import type { AttackPageRequest, GuardReports } from '../rules/api/index.ts';
import { StoreUnavailable } from '../rules/index.ts';

/** The guard of this server. */
export interface OwnReports {
  readonly self: GuardSelf;
  readonly dataPlane: 'embedded' | 'dnsdist';
  readonly guard: Guard;
  readonly store: AttackStore;
}

export interface GuardReportsParts {
  /** None where this server guards nothing. */
  readonly own: OwnReports | undefined;
  /** What all guards have told; none where the own is the only one. */
  readonly fleet: FleetStore | undefined;
}

const MS_PER_SECOND = 1000;
/** Attacks that are looked through for those that have ended just now. */
const MOST_ENDED = 25;

/** What the rules API tells of guards. An attack that lasts here is told as it stands now, not as it was stored last. */
export function guardReports({ own, fleet }: GuardReportsParts): GuardReports {
  const ownAccount = own?.self.self.account;
  const whatIfs = oncePerSecond(whatIfOf);
  const standing = (attack: Attack): Attack => own?.guard.attacks.get(attack.id) ?? attack;
  const placed = ({ attack, place, instance }: PlacedAttack): Attack => ({
    ...standing(attack),
    ...{ ...place, instance },
  });

  return {
    accountId: ownAccount,
    status: () => own && statusOf(own),
    rates: () => own && ratesOf(own),
    whatIf: () => own && whatIfs(own),

    async attacks(account, request) {
      if (fleet !== undefined)
        try {
          const { result, total } = await fleet.attacks({ account, ...request });
          return { result: result.map((attack) => summaryOf(placed(attack))), total };
        } catch (error) {
          // What this guard knows is better than nothing; the answer says that it is old.
          if (!(error instanceof StoreUnavailable) || account !== ownAccount) throw error;
        }
      return own === undefined || account !== ownAccount
        ? { result: [], total: 0 }
        : ownAttacks(own, request, standing);
    },

    endedSince(ms) {
      const { result } = own?.store.attacks({ page: 1, perPage: MOST_ENDED }) ?? { result: [] };
      return result
        .filter(({ ended_on }) => ended_on !== undefined && Date.parse(ended_on) > ms)
        .map(summaryOf);
    },

    async attack(account, id) {
      const here = account === ownAccount ? (own?.guard.attacks.get(id) ?? own?.store.attack(id)) : undefined;
      if (fleet === undefined) return here && toldAttack(here);
      const found = await fleet.attack(account, id).catch((error: unknown) => {
        if (here === undefined) throw error;
        return undefined;
      });
      const attack = found ? placed(found) : here;
      return attack && toldAttack(attack);
    },

    async fleet(account) {
      if (fleet !== undefined) return fleet.instances(account);
      if (own === undefined || account !== ownAccount) return [];
      const { self } = own;
      self.noteRule();
      const { id, place } = self.self;
      const { region, datacenter } = place;
      const at = { ...(region !== undefined && { region }), ...(datacenter !== undefined && { datacenter }) };
      return [{ id, ...at, ...self.told(), last_seen_on: new Date().toISOString(), is_up: true }];
    },
  };
}

function statusOf({ self, guard, dataPlane }: OwnReports): object {
  const { detector, stats, attacks } = guard;
  const nowMs = Date.now();
  return {
    instance: self.id,
    data_plane: dataPlane,
    rule: ruleMet(detector.rule),
    not_ready: notReady(guard),
    ...standingOf(detector, nowMs),
    since_start: sinceStart(stats, nowMs),
    attacks: attacks.open().map(summaryOf),
  };
}

function ownAttacks(
  { self, store }: OwnReports,
  request: AttackPageRequest,
  standing: (attack: Attack) => Attack,
): { result: object[]; total: number } {
  if (!isAt(request, self.self.place)) return { result: [], total: 0 };
  const { result, total } = store.attacks(request);
  return { result: result.map((stored) => summaryOf(standing(stored))), total };
}

function ratesOf({ guard }: OwnReports) {
  const { endSecond, series } = guard.rates.seconds();
  return { until: new Date(endSecond * MS_PER_SECOND).toISOString(), ...series };
}

async function whatIfOf({ guard: { detector, rates } }: OwnReports): Promise<object> {
  const rule = ruleMet(detector.rule);
  const watchedSeconds = rates.seconds().series.passed.length;
  return {
    rule,
    ...(await whatIf(detector, { watchedSeconds, nowMs: Date.now(), pause: () => setImmediate() })),
  };
}

/** What is worked out for one is told to all who ask in that second. */
function oncePerSecond<T>(workOut: (of: T) => Promise<object>): (of: T) => Promise<object> {
  let last: { readonly atMs: number; readonly value: Promise<object> } | undefined;
  return (of) => {
    const nowMs = performance.now();
    if (last === undefined || nowMs - last.atMs >= MS_PER_SECOND) last = { atMs: nowMs, value: workOut(of) };
    return last.value;
  };
}
