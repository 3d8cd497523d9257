import { setImmediate } from 'node:timers/promises';
import {
  detectorStatusOf,
  type MinuteStore,
  matchesLocation,
  minuteRates,
  sinceStart,
  whatIf,
} from '../../dns/analytics/index.ts';
import {
  type Attack,
  type AttackStore,
  attackRuleOf,
  reportedAttack,
  summaryOf,
} from '../../dns/attacks/index.ts';
import { type Guard, notReady } from '../../dns/controller/index.ts';
import type { UserQueries } from '../../dns/detector/index.ts';
import type { FleetMember, FleetStore, GuardAttack } from '../../dns/fleet/index.ts';
import { awaitedLater } from '../../platform/background/index.ts';
import type { AttackPageRequest, GuardReports } from '../../rules/api/index.ts';
import { StoreUnavailable } from '../../rules/index.ts';
import type { TestFlood } from './testFlood.ts';

export interface OwnReports {
  readonly self: FleetMember;
  readonly dataPlane: 'embedded' | 'dnsdist';
  readonly guard: Guard;
  readonly store: AttackStore & MinuteStore;
}

export interface GuardReportsParts {
  /** Undefined if this server has no guard. */
  readonly own: OwnReports | undefined;
  /** Reports of all guards that share a database; undefined without such a database. */
  readonly fleet: FleetStore | undefined;
  readonly testFlood: TestFlood | undefined;
}

const MS_PER_SECOND = 1000;
/** Recently ended attacks are searched for among this number of newest attacks. */
const MOST_ENDED = 25;

/**
 * Returns the reports about guards for the rules API. An attack that is still active at this guard is returned in its
 * current state, not as stored.
 */
export function guardReports({ own, fleet, testFlood }: GuardReportsParts): GuardReports {
  const ownAccount = own?.self.identity.account;
  const whatIfs = oncePerSecond(whatIfOf);
  const standing = (attack: Attack): Attack => own?.guard.attacks.get(attack.id) ?? attack;
  const placed = ({ attack, place, instance }: GuardAttack): Attack => ({
    ...standing(attack),
    ...place,
    instance,
  });

  return {
    accountId: ownAccount,
    status: () => own && statusOf(own, testFlood),
    rates: () => own && ratesOf(own),
    minuteRates: (span) =>
      own && minuteRates({ store: own.store, stats: own.guard.stats }, { ...span, nowMs: Date.now() }),
    samples: (atMs) => own?.guard.samples.of(atMs),
    whatIf: () => own && whatIfs(own),
    assessments: () => own?.guard.assessments(),
    mayForget: (account) => fleet !== undefined || account === ownAccount,

    async attacks(account, request) {
      if (fleet !== undefined)
        try {
          const { result, total } = await fleet.attacks({ account, ...request });
          return { result: result.map((attack) => summaryOf(placed(attack))), total };
        } catch (error) {
          // Without the shared database, only this guard's own data is returned; the response marks it as stale.
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
      if (fleet === undefined) return here && reportedAttack(here);
      const found = await fleet.attack(account, id).catch((error: unknown) => {
        if (here === undefined) throw error;
        return undefined;
      });
      const attack = found ? placed(found) : here;
      return attack && reportedAttack(attack);
    },

    async fleet(account) {
      if (fleet !== undefined) return fleet.instances(account);
      if (own === undefined || account !== ownAccount) return [];
      const { self } = own;
      self.refreshRule();
      const { id, place } = self.identity;
      const { region, datacenter } = place;
      const at = { ...(region !== undefined && { region }), ...(datacenter !== undefined && { datacenter }) };
      return [{ id, ...at, ...self.report(), last_seen_on: new Date().toISOString(), is_up: true }];
    },
  };
}

function statusOf({ self, guard, dataPlane }: OwnReports, testFlood: TestFlood | undefined): object {
  const { detector, stats, attacks } = guard;
  const nowMs = Date.now();
  return {
    instance: self.id,
    data_plane: dataPlane,
    rule: attackRuleOf(detector.rule),
    not_ready: notReady(guard),
    ...detectorStatusOf(detector, nowMs),
    since_start: { ...sinceStart(stats, nowMs), known_names: knownNamesOf(detector.userQueries) },
    attacks: attacks.open().map(summaryOf),
    ...(testFlood && { test_flood: { ends_on: testFlood.endsOn } }),
  };
}

const knownNamesOf = ({ answered, limited, unanswered }: UserQueries) => ({
  asked: answered + limited + unanswered,
  answered,
  limited,
});

function ownAttacks(
  { self, store }: OwnReports,
  request: AttackPageRequest,
  standing: (attack: Attack) => Attack,
): { result: object[]; total: number } {
  if (!matchesLocation(request, self.identity.place)) return { result: [], total: 0 };
  const { result, total } = store.attacks(request);
  return { result: result.map((stored) => summaryOf(standing(stored))), total };
}

function ratesOf({ guard }: OwnReports) {
  const { endSecond, series } = guard.rates.seconds();
  return { until: new Date(endSecond * MS_PER_SECOND).toISOString(), ...series };
}

async function whatIfOf({ guard: { detector, rates } }: OwnReports): Promise<object> {
  const rule = attackRuleOf(detector.rule);
  const watchedSeconds = rates.seconds().series.passed.length;
  return {
    rule,
    ...(await whatIf(detector, { watchedSeconds, nowMs: Date.now(), pause: () => setImmediate() })),
  };
}

/** Returns a function that caches the result of `workOut` for one second, for all callers. */
function oncePerSecond<T>(workOut: (of: T) => Promise<object>): (of: T) => Promise<object> {
  let last: { readonly atMs: number; readonly value: Promise<object> } | undefined;
  return (of) => {
    const nowMs = performance.now();
    if (last === undefined || nowMs - last.atMs >= MS_PER_SECOND)
      last = { atMs: nowMs, value: awaitedLater(workOut(of)) };
    return last.value;
  };
}
