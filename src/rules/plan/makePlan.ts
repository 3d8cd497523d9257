import { createHash } from 'node:crypto';
import {
  type NewRule,
  type Rule,
  type RuleSettings,
  ruleFormat,
  type ZonePolicy,
  type ZonePolicyChanges,
  type ZonePolicySettings,
  zonePolicyChanges,
} from '../index.ts';

export interface Plan {
  readonly creates: readonly NewRule[];
  readonly updates: readonly { readonly rule: Rule; readonly changes: Partial<RuleSettings> }[];
  readonly deletes: readonly Rule[];
  readonly unchanged: readonly Rule[];
  /** Changes of zone policies. Default: they stay as they are. */
  readonly zones?: ZonePlan;
}

export interface ZonePlan {
  readonly creates: readonly ZonePolicySettings[];
  readonly updates: readonly { readonly policy: ZonePolicy; readonly changes: ZonePolicyChanges }[];
  readonly deletes: readonly ZonePolicy[];
  readonly unchanged: readonly ZonePolicy[];
}

/**
 * Returns the changes that turn the current rules into the wanted ones. Rules are matched by scope and name, without
 * regard to case in names of regions and datacenters. Of several matches, a rule with equal settings is preferred.
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

/** Returns the changes that turn the current zone policies into the wanted ones. They are matched by zone. */
export function makeZonePlan(
  current: readonly ZonePolicy[],
  wanted: readonly ZonePolicySettings[],
): ZonePlan {
  const left = new Map(current.map((policy) => [policy.zone, policy]));
  const creates: ZonePolicySettings[] = [];
  const updates: { policy: ZonePolicy; changes: ZonePolicyChanges }[] = [];
  const unchanged: ZonePolicy[] = [];
  for (const settings of wanted) {
    const policy = left.get(settings.zone);
    left.delete(settings.zone);
    const changes = policy && zonePolicyChanges(policy, settings);
    if (policy === undefined || changes === undefined) creates.push(settings);
    else if (Object.keys(changes).length > 0) updates.push({ policy, changes });
    else unchanged.push(policy);
  }
  return { creates, updates, deletes: [...left.values()], unchanged };
}

export function isEmpty(plan: Plan): boolean {
  return countChanges(plan) === 0;
}

/** Returns the number of rules and zone policies that a plan creates, changes and deletes. */
export function countChanges(plan: Plan): number {
  const parts = [plan, ...(plan.zones ? [plan.zones] : [])];
  return parts.reduce(
    (sum, { creates, updates, deletes }) => sum + creates.length + updates.length + deletes.length,
    0,
  );
}

/** Returns the rules of the account as they were when the plan was made. */
export function existingRules({ updates, deletes, unchanged }: Plan): Rule[] {
  return [...updates.map(({ rule }) => rule), ...deletes, ...unchanged];
}

/** Minimum number of rules or zone policies for the check of changed parts. In a smaller account, large changes are usual. */
const RISKY_FROM_RULES = 10;
/** Share of the account's rules or zone policies that a plan may change or delete without `--force`. */
const RISKY_PART = 1 / 3;

/**
 * Returns the risk of a plan as text for a message, or undefined. Two plans suggest a wrong file or account: one that
 * deletes all rules, and one that changes or deletes more than a third of at least ten rules. The same applies to zone
 * policies.
 */
export function riskOf(plan: Plan): string | undefined {
  return (
    partRisk(plan, ['rule', 'rules']) ??
    (plan.zones && partRisk(plan.zones, ['zone policy', 'zone policies']))
  );
}

function partRisk(
  { creates, updates, deletes, unchanged }: Plan | ZonePlan,
  [one, several]: readonly [string, string],
): string | undefined {
  const touched = updates.length + deletes.length;
  const all = touched + unchanged.length;
  if (all > 0 && deletes.length === all && creates.length === 0) return `deletes every ${one} of the account`;
  if (all >= RISKY_FROM_RULES && touched > all * RISKY_PART)
    return `changes or deletes more than a third of the ${several}`;
  return undefined;
}

export interface PlanSubject {
  readonly baseUrl: string;
  readonly accountId: string;
}

/**
 * Returns an identifier that is equal for equal plans on one server and account whose affected rules and zone policies
 * are unchanged.
 */
export function planFingerprint(plan: Plan, { baseUrl, accountId }: PlanSubject): string {
  const content = [
    baseUrl,
    accountId,
    plan.creates,
    plan.updates.map(({ rule, changes }) => [rule.id, rule.modified_on, changes]),
    plan.deletes.map((rule) => [rule.id, rule.modified_on]),
    ...(plan.zones ? [zoneContent(plan.zones)] : []),
  ];
  return createHash('sha256').update(JSON.stringify(content)).digest('hex').slice(0, FINGERPRINT_DIGITS);
}

const zoneContent = ({ creates, updates, deletes }: ZonePlan): unknown => [
  creates,
  updates.map(({ policy, changes }) => [policy.id, policy.modified_on, changes]),
  deletes.map((policy) => [policy.id, policy.modified_on]),
];

/** Length of a plan's identifier. 16 hex digits have 64 bits, enough because nobody gains from forging a plan. */
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
