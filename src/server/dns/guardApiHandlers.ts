import { createAnalyticsHandler, InvalidAnalyticsQuery } from '../../dns/analytics/index.ts';
import type { FleetStore } from '../../dns/fleet/index.ts';
import type { GuardReports, RuleAnalytics } from '../../rules/api/index.ts';
import { InvalidRule } from '../../rules/index.ts';
import type { Dns } from './dns.ts';
import { guardReports } from './guardReports.ts';
import type { TestFlood } from './testFlood.ts';

export interface GuardApiHandlers {
  readonly analytics: RuleAnalytics;
  readonly guard: GuardReports;
}

interface GuardApiParts {
  readonly dns: Dns | undefined;
  readonly fleet: FleetStore | undefined;
  readonly testFlood: TestFlood | undefined;
}

/** Returns the rules API handlers for this server's guard and all guards of a shared store; empty if there are none. */
export function guardApiHandlers({ dns, fleet, testFlood }: GuardApiParts): Partial<GuardApiHandlers> {
  if (dns === undefined && fleet === undefined) return {};
  const reported = fleet && {
    minutes: (query: Parameters<FleetStore['minutes']>[0]) => fleet.minutes(query),
    reportedUntil: () => dns?.reporter?.reportedUntil,
  };
  return {
    analytics: asRuleAnalytics(createAnalyticsHandler({ own: dns?.own, reported, now: Date.now })),
    guard: guardReports({ own: dns?.own, fleet, testFlood }),
  };
}

/** Converts errors of analytics queries to InvalidRule, the rules API's error for any invalid request. */
function asRuleAnalytics(analyticsFor: ReturnType<typeof createAnalyticsHandler>): RuleAnalytics {
  return async (asked, query) => {
    try {
      return await analyticsFor(asked, query);
    } catch (error) {
      if (error instanceof InvalidAnalyticsQuery) throw new InvalidRule([{ message: error.message }]);
      throw error;
    }
  };
}
