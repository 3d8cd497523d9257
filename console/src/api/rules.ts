import { account } from '../session.ts';
import { type ApiRequest, type ApiResponse, call, pathOf } from './client.ts';
import { collection } from './collection.ts';
import type { Outcome } from './failure.ts';
import type { Rule, RuleCreation, RulePatch } from './types.ts';

export const ruleCalls = collection<Rule, RuleCreation, RulePatch>(
  () => pathOf`/accounts/${account.value}/network/advanced_dns_protection/configs/dns_protection/rules`,
);

/** Numbers of queries to which a rule was applied, by outcome. The default period is the last hour. */
export interface Analytics {
  readonly totals: Counts;
  readonly minutes: readonly (Counts & { readonly start: string; readonly rate_per_second: number })[];
  readonly explanation?: Explanation;
}

export interface Counts {
  readonly passed: number;
  readonly paid: number;
  readonly would_drop: number;
  readonly dropped: number;
  readonly truncated: number;
  readonly reasons: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

export interface Explanation {
  readonly name: string;
  readonly type: string;
  readonly zone: string;
  readonly zone_attacked: boolean;
  readonly zone_judged_by_rate: boolean;
  readonly zone_awaits_names: boolean;
  readonly known: boolean;
  readonly known_types: readonly string[];
  readonly reason: string;
  readonly verdict: string;
}

const analyticsCall = (id: string, query: Readonly<Record<string, string>> = {}): ApiRequest => ({
  path: `${ruleCalls.callOf(id).path}/analytics`,
  query,
});
export const readAnalytics = (
  id: string,
  query?: Readonly<Record<string, string>>,
): Promise<Outcome<ApiResponse<Analytics>>> => call(analyticsCall(id, query));

export function wouldDropCounts({ would_drop, reasons }: Counts): {
  readonly all: number;
  readonly known: number;
} {
  const of = (reason: string) => reasons[reason]?.['would_drop'] ?? 0;
  return { all: would_drop, known: of('unknownType') + of('aboveUsual') };
}
