import { sinceStart, standingOf } from '../dns/analytics/index.ts';
import { type AttackStore, ruleMet, summaryOf, toldAttack } from '../dns/attacks/index.ts';
import { type Guard, notReady } from '../dns/controller/index.ts';
import type { GuardReports } from '../rules/api/index.ts';

export interface GuardReportsOptions {
  readonly accountId: string;
  readonly dataPlane: 'embedded' | 'dnsdist';
}

/** Attacks that are looked through for those that have ended just now. */
const MOST_ENDED = 25;

/** What the rules API tells of the guard. An attack that lasts is told as it stands now, not as it was stored last. */
export function guardReports(
  { accountId, dataPlane }: GuardReportsOptions,
  { guard, store }: { readonly guard: Guard; readonly store: AttackStore },
): GuardReports {
  const { detector, stats, attacks } = guard;
  return {
    accountId,
    status() {
      const nowMs = Date.now();
      return {
        data_plane: dataPlane,
        rule: ruleMet(detector.rule),
        not_ready: notReady(guard),
        ...standingOf(detector, nowMs),
        since_start: sinceStart(stats, nowMs),
        attacks: attacks.open().map(summaryOf),
      };
    },
    attacks(request) {
      const { result, total } = store.attacks(request);
      return { result: result.map((stored) => summaryOf(attacks.get(stored.id) ?? stored)), total };
    },
    endedSince(ms) {
      const { result } = store.attacks({ page: 1, perPage: MOST_ENDED });
      return result
        .filter(({ ended_on }) => ended_on !== undefined && Date.parse(ended_on) > ms)
        .map(summaryOf);
    },
    attack(id) {
      const attack = attacks.get(id) ?? store.attack(id);
      return attack && toldAttack(attack);
    },
  };
}
