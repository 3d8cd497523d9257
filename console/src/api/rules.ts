import { account } from '../session.ts';
import { type ApiRequest, type ApiResponse, call, pathOf } from './client.ts';
import type { Outcome } from './failure.ts';
import type { Rule, RuleCreation, RulePatch } from './types.ts';

const rulesPath = (): string =>
  pathOf`/accounts/${account.value}/network/advanced_dns_protection/configs/dns_protection/rules`;
const rulePath = (id: string): string => rulesPath() + pathOf`/${id}`;

/** A rule with its ETag. A change of the rule sends the ETag, and fails if the rule was changed after it was read. */
export interface TaggedRule {
  readonly rule: Rule;
  readonly etag: string;
}

async function requestRule(
  request: ApiRequest,
): Promise<Outcome<TaggedRule & { readonly messages: readonly string[] }>> {
  const answer = await call<Rule>(request);
  if ('failure' in answer) return answer;
  const { result, etag = '*', messages } = answer.value;
  return { value: { rule: result, etag, messages } };
}

export const listRules = (): Promise<Outcome<ApiResponse<readonly Rule[]>>> => call({ path: rulesPath() });
export const ruleCall = (id: string): ApiRequest => ({ path: rulePath(id) });
export const readRule = (id: string) => requestRule(ruleCall(id));

/** Creates a rule. If the request is retried with the same `key`, no second rule is created. */
export const createRule = (rule: RuleCreation, key: string) =>
  requestRule({ method: 'POST', path: rulesPath(), body: rule, headers: { 'idempotency-key': key } });

/** Changes a rule. The server responds with status 412 if the rule was changed after it was read. */
export const updateRule = ({ rule: { id }, etag }: TaggedRule, patch: RulePatch) =>
  requestRule({ method: 'PATCH', path: rulePath(id), body: patch, headers: { 'if-match': etag } });

export const deleteRule = ({ rule: { id }, etag }: TaggedRule): Promise<Outcome<ApiResponse<null>>> =>
  call({ method: 'DELETE', path: rulePath(id), headers: { 'if-match': etag } });

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
  path: `${rulePath(id)}/analytics`,
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
