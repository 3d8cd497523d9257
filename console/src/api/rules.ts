import { account } from '../session.ts';
import { type Answer, type Call, call, pathOf } from './client.ts';
import type { Outcome } from './failure.ts';
import type { Rule, RuleChange, RuleCreation, RulePatch } from './types.ts';

const rulesPath = (): string =>
  pathOf`/accounts/${account.value}/network/advanced_dns_protection/configs/dns_protection/rules`;
const rulePath = (id: string): string => rulesPath() + pathOf`/${id}`;

/** A rule as it was read, with the tag by which a change of it is tied to that state. */
export interface TaggedRule {
  readonly rule: Rule;
  readonly etag: string;
}

async function tagged(
  request: Call,
): Promise<Outcome<TaggedRule & { readonly messages: readonly string[] }>> {
  const answer = await call<Rule>(request);
  if ('failure' in answer) return answer;
  const { result, etag = '*', messages } = answer.value;
  return { value: { rule: result, etag, messages } };
}

export const listRules = (): Promise<Outcome<Answer<readonly Rule[]>>> => call({ path: rulesPath() });
export const ruleCall = (id: string): Call => ({ path: rulePath(id) });
export const readRule = (id: string) => tagged(ruleCall(id));

/** The same creation twice, as where an answer was lost, makes one rule. */
export const createRule = (rule: RuleCreation, key: string) =>
  tagged({ method: 'POST', path: rulesPath(), body: rule, headers: { 'idempotency-key': key } });

/** Only where the rule is still as it was read: 412 otherwise. */
export const updateRule = ({ rule: { id }, etag }: TaggedRule, patch: RulePatch) =>
  tagged({ method: 'PATCH', path: rulePath(id), body: patch, headers: { 'if-match': etag } });

export const deleteRule = ({ rule: { id }, etag }: TaggedRule): Promise<Outcome<Answer<null>>> =>
  call({ method: 'DELETE', path: rulePath(id), headers: { 'if-match': etag } });

export const changesOfRule = (id: string, cursor?: string): Promise<Outcome<Answer<readonly RuleChange[]>>> =>
  call({
    path: rulesPath().replace(/rules$/, 'audit'),
    query: { rule_id: id, per_page: 100, cursor },
  });

/** What a rule did, in the last hour where nothing is said. */
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

const analyticsCall = (id: string, query: Readonly<Record<string, string>> = {}): Call => ({
  path: `${rulePath(id)}/analytics`,
  query,
});
export const readAnalytics = (
  id: string,
  query?: Readonly<Record<string, string>>,
): Promise<Outcome<Answer<Analytics>>> => call(analyticsCall(id, query));

/** Of those that would have been refused, how many were for names that the guard knows. */
export function wouldRefuse({ would_drop, reasons }: Counts): {
  readonly all: number;
  readonly known: number;
} {
  const of = (reason: string) => reasons[reason]?.['would_drop'] ?? 0;
  return { all: would_drop, known: of('unknownType') + of('aboveUsual') };
}
