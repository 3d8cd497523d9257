import { createHash } from 'node:crypto';
import { type NewRule, type Rule, type RuleSettings, ruleFormat } from '../index.ts';

/** What has to be done to an account. */
export interface Plan {
  readonly creates: readonly NewRule[];
  readonly updates: readonly { readonly rule: Rule; readonly changes: Partial<RuleSettings> }[];
  readonly deletes: readonly Rule[];
  readonly unchanged: readonly Rule[];
}

/**
 * The changes after which an account has exactly the wanted rules. A rule is known again by scope and name (places
 * without regard to case), since these cannot be changed; of several with the same, equal ones are paired first, then
 * the others in their order.
 */
export function makePlan(current: readonly Rule[], wanted: readonly NewRule[], format = ruleFormat): Plan {
  const left = groupByIdentity(current);
  const creates: NewRule[] = [];
  const updates: { rule: Rule; changes: Partial<RuleSettings> }[] = [];
  const unchanged: Rule[] = [];

  const different = wanted.filter((rule) => {
    const same = take(left, rule, (candidate) => Object.keys(format.changes(candidate, rule)).length === 0);
    if (same) unchanged.push(same);
    return !same;
  });
  for (const rule of different) {
    const candidate = take(left, rule, () => true);
    if (candidate) updates.push({ rule: candidate, changes: format.changes(candidate, rule) });
    else creates.push(rule);
  }
  return { creates, updates, deletes: [...left.values()].flat(), unchanged };
}

export function isEmpty({ creates, updates, deletes }: Plan): boolean {
  return creates.length + updates.length + deletes.length === 0;
}

/** What a plan knows of the rules that there are. */
export function rulesSeen({ updates, deletes, unchanged }: Plan): Rule[] {
  return [...updates.map(({ rule }) => rule), ...deletes, ...unchanged];
}

/** Below this many rules a large part of them is soon reached, and easily seen. */
const RISKY_FROM_RULES = 10;
/** The part of the rules that a plan may change or delete without being asked for it twice. */
const RISKY_PART = 1 / 3;

/**
 * What a plan does that a wrong file or account looks like, for a message: it leaves no rule where there were some (a
 * list that came out empty), or changes or deletes more than a third of ten or more. Undefined where nothing of the kind.
 */
export function riskOf({ creates, updates, deletes, unchanged }: Plan): string | undefined {
  const touched = updates.length + deletes.length;
  const all = touched + unchanged.length;
  if (all > 0 && deletes.length === all && creates.length === 0) return 'deletes every rule of the account';
  if (all >= RISKY_FROM_RULES && touched > all * RISKY_PART)
    return 'changes or deletes more than a third of the rules';
  return undefined;
}

/** Where a plan is to be carried out. */
export interface PlanSubject {
  readonly baseUrl: string;
  readonly accountId: string;
}

/** Names a plan: equal for equal plans on the same state of the same rules of the same account on the same server. */
export function planFingerprint(plan: Plan, { baseUrl, accountId }: PlanSubject): string {
  const content = [
    baseUrl,
    accountId,
    plan.creates,
    plan.updates.map(({ rule, changes }) => [rule.id, rule.modified_on, changes]),
    plan.deletes.map((rule) => [rule.id, rule.modified_on]),
  ];
  return createHash('sha256').update(JSON.stringify(content)).digest('hex').slice(0, FINGERPRINT_DIGITS);
}

/** 64 bits: nobody forges plans, it only has to tell one from another. */
const FINGERPRINT_DIGITS = 16;

function identityOf(rule: NewRule): string {
  return `${rule.scope} ${rule.scope === 'global' ? rule.name : rule.name.toLowerCase()}`;
}

function groupByIdentity(rules: readonly Rule[]): Map<string, Rule[]> {
  const groups = new Map<string, Rule[]>();
  for (const rule of rules) groups.set(identityOf(rule), [...(groups.get(identityOf(rule)) ?? []), rule]);
  return groups;
}

function take(
  groups: Map<string, Rule[]>,
  wanted: NewRule,
  suits: (rule: Rule) => boolean,
): Rule | undefined {
  const group = groups.get(identityOf(wanted)) ?? [];
  const found = group.find(suits);
  groups.set(
    identityOf(wanted),
    group.filter((rule) => rule !== found),
  );
  return found;
}
