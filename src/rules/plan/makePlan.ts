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

/** Changes that turn the current items of an account into the wanted ones. */
export interface Differences<Item, New, Changes> {
  readonly creates: readonly New[];
  readonly updates: readonly { readonly item: Item; readonly changes: Changes }[];
  readonly deletes: readonly Item[];
  readonly unchanged: readonly Item[];
}

export type ZonePlan = Differences<ZonePolicy, ZonePolicySettings, ZonePolicyChanges>;

export interface Plan extends Differences<Rule, NewRule, Partial<RuleSettings>> {
  /** Changes of zone policies. Default: they stay as they are. */
  readonly zones?: ZonePlan;
}

/** Returns the changes that turn the current rules into the wanted ones. Rules are matched by scope and name. */
export function makePlan(current: readonly Rule[], wanted: readonly NewRule[], format = ruleFormat): Plan {
  return differences(current, wanted, {
    identityOf,
    changesOf: (rule, settings) => format.changes(rule, settings),
  });
}

/** Returns the changes that turn the current zone policies into the wanted ones. They are matched by zone. */
export function makeZonePlan(
  current: readonly ZonePolicy[],
  wanted: readonly ZonePolicySettings[],
): ZonePlan {
  return differences(current, wanted, { identityOf: ({ zone }) => zone, changesOf: zonePolicyChanges });
}

interface Matching<Item, New, Changes> {
  readonly identityOf: (item: New) => string;
  readonly changesOf: (item: Item, wanted: New) => Changes;
}

/** Of several items with a wanted identity, an item with equal settings is preferred. */
function differences<New, Item extends New, Changes extends object>(
  current: readonly Item[],
  wanted: readonly New[],
  { identityOf, changesOf }: Matching<Item, New, Changes>,
): Differences<Item, New, Changes> {
  const left = new Map<string, Item[]>();
  for (const item of current) left.set(identityOf(item), [...(left.get(identityOf(item)) ?? []), item]);
  const take = (item: New, suits: (candidate: Item) => boolean): Item | undefined => {
    const group = left.get(identityOf(item)) ?? [];
    const found = group.findIndex(suits);
    return found < 0 ? undefined : group.splice(found, 1)[0];
  };
  const creates: New[] = [];
  const updates: { item: Item; changes: Changes }[] = [];
  const unchanged: Item[] = [];

  const different = wanted.filter((item) => {
    const same = take(item, (candidate) => Object.keys(changesOf(candidate, item)).length === 0);
    if (same) unchanged.push(same);
    return !same;
  });
  for (const item of different) {
    const candidate = take(item, () => true);
    if (candidate) updates.push({ item: candidate, changes: changesOf(candidate, item) });
    else creates.push(item);
  }
  return { creates, updates, deletes: [...left.values()].flat(), unchanged };
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
  return [...updates.map(({ item }) => item), ...deletes, ...unchanged];
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
  { creates, updates, deletes, unchanged }: Differences<unknown, unknown, unknown>,
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
  const content = [baseUrl, accountId, ...contentOf(plan), ...(plan.zones ? [contentOf(plan.zones)] : [])];
  return createHash('sha256').update(JSON.stringify(content)).digest('hex').slice(0, FINGERPRINT_DIGITS);
}

const contentOf = ({ creates, updates, deletes }: Plan | ZonePlan): unknown[] => [
  creates,
  updates.map(({ item, changes }) => [item.id, item.modified_on, changes]),
  deletes.map((item) => [item.id, item.modified_on]),
];

/** Length of a plan's identifier. 16 hex digits have 64 bits, enough because nobody gains from forging a plan. */
const FINGERPRINT_DIGITS = 16;

/** Names of regions and datacenters are matched without regard to case. */
function identityOf(rule: NewRule): string {
  return `${rule.scope} ${rule.scope === 'global' ? rule.name : rule.name.toLowerCase()}`;
}
