import { analyticsOf, InvalidAnalyticsQuery } from '../dns/analytics/index.ts';
import type { FleetStore } from '../dns/fleet/index.ts';
import type { GuardReports, RuleAnalytics } from '../rules/api/index.ts';
import { InvalidRule } from '../rules/index.ts';
import type { Dns } from './dns.ts';
import { guardReports } from './guardReports.ts';

export interface GuardAnswers {
  /** Answers `GET …/rules/{rule_id}/analytics`. */
  readonly analytics: RuleAnalytics;
  /** Answers what is asked of guards themselves: status, attacks, which there are. */
  readonly guard: GuardReports;
}

/** What the rules API answers of guards: that of this server, and the others where they share a store. Nothing where there are none. */
export function guardAnswers(dns: Dns | undefined, fleet: FleetStore | undefined): Partial<GuardAnswers> {
  if (dns === undefined && fleet === undefined) return {};
  const told = fleet && {
    minutes: (query: Parameters<FleetStore['minutes']>[0]) => fleet.minutes(query),
    toldUntil: () => dns?.reporter?.toldUntil,
  };
  return {
    analytics: asRuleAnalytics(analyticsOf({ own: dns?.own, told, now: Date.now })),
    guard: guardReports({ own: dns?.own, fleet }),
  };
}

/** The rules API has one error for whatever in a request is not as it should be. */
function asRuleAnalytics(analyticsFor: ReturnType<typeof analyticsOf>): RuleAnalytics {
  return async (asked, query) => {
    try {
      return await analyticsFor(asked, query);
    } catch (error) {
      if (error instanceof InvalidAnalyticsQuery) throw new InvalidRule([{ message: error.message }]);
      throw error;
    }
  };
}
