import { type NewRule, type Rule, type RuleFormat, ruleFormat, shortSettingsOf } from '../index.ts';
import { isEmpty, type Plan, type PlanSubject, planFingerprint, riskOf, type ZonePlan } from './makePlan.ts';

export type Colour = 'green' | 'yellow' | 'red' | 'bold';
export type Paint = (colour: Colour, text: string) => string;

export interface PlanTextOptions {
  readonly subject: PlanSubject;
  /** Returns a line of the plan in a colour, or unchanged if colours are off. */
  readonly paint: Paint;
  readonly format?: RuleFormat;
}

/** Formats a plan for people: each item to change, create or delete with its fields, then the totals. */
export function formatPlan(plan: Plan, { subject, paint, format = ruleFormat }: PlanTextOptions): string {
  const { settingMembers } = format;
  if (isEmpty(plan)) return `Nothing to do: ${unchangedText(plan)} as in the file.`;
  const { creates, updates, deletes, zones } = plan;
  const total = (part: keyof ZonePlan) => plan[part].length + (zones?.[part].length ?? 0);
  const lines = [
    ...updates.flatMap(({ item: rule, changes }) => [
      paint('yellow', `~ change ${nameOf(rule)} (${rule.id})`),
      ...settingMembers
        .filter((member) => changes[member] !== undefined)
        .map((member) => `    ${member}: ${rule[member]} → ${changes[member]}`),
    ]),
    ...creates.flatMap((rule) => [
      paint('green', `+ create ${nameOf(rule)}`),
      ...settingMembers.map((member) => `    ${member}: ${rule[member]}`),
    ]),
    ...deletes.map((rule) => paint('red', `- delete ${nameOf(rule)} (${rule.id}), ${rule.mode}`)),
    ...(zones ? zoneLines(zones, paint) : []),
    '',
    paint(
      'bold',
      `Plan ${planFingerprint(plan, subject)}: ${total('creates')} to create, ${total('updates')} to change, ${total('deletes')} to delete, ${total('unchanged')} unchanged.`,
    ),
  ];
  return lines.join('\n');
}

function zoneLines({ creates, updates, deletes }: ZonePlan, paint: Paint): string[] {
  const fieldsOf = (settings: object) =>
    Object.entries(settings).map(([member, value]) => `    ${member}: ${printable(value)}`);
  return [
    ...updates.flatMap(({ item: policy, changes }) => [
      paint('yellow', `~ change zone ${printable(policy.zone)} (${policy.id})`),
      ...Object.entries(changes).map(([member, value]) => {
        const before = policy[member as keyof typeof changes]; // the changes have members of a policy
        return `    ${member}: ${printable(before)} → ${printable(value)}`;
      }),
    ]),
    ...creates.flatMap((policy) => {
      const { zone, ...settings } = shortSettingsOf(policy);
      return [paint('green', `+ create zone ${printable(zone)}`), ...fieldsOf(settings)];
    }),
    ...deletes.map((policy) =>
      paint('red', `- delete zone ${printable(policy.zone)} (${policy.id}), ${policy.mode}`),
    ),
  ];
}

/** Formats a plan for programs, as one line of JSON. */
export function planAsJson(plan: Plan, subject: PlanSubject): string {
  const { creates, updates, deletes, unchanged, zones } = plan;
  return JSON.stringify({
    plan: planFingerprint(plan, subject),
    server: subject.baseUrl,
    account: subject.accountId,
    creates,
    updates: updates.map(({ item: rule, changes }) => ({ rule, changes })),
    deletes,
    unchanged: unchanged.length,
    ...(zones && { zones: zonesAsJson(zones) }),
    risk: riskOf(plan) ?? null,
  });
}

const zonesAsJson = (zones: ZonePlan) => ({
  ...zones,
  updates: zones.updates.map(({ item: policy, changes }) => ({ policy, changes })),
  unchanged: zones.unchanged.length,
});

function nameOf(rule: NewRule | Rule): string {
  return `${rule.scope} ${printable(rule.name)}`;
}

/** Replaces control characters, so that text from a server cannot control the terminal. */
const printable = (value: unknown): string => String(value).replaceAll(/\p{C}/gu, '\uFFFD');

function unchangedText({ unchanged: { length: rules }, zones }: Plan): string {
  const ruleCount = rules === 1 ? '1 rule' : `${rules} rules`;
  if (zones === undefined) return `${ruleCount} ${rules === 1 ? 'is' : 'are'}`;
  const { length: policies } = zones.unchanged;
  return `${ruleCount} and ${policies === 1 ? '1 zone policy' : `${policies} zone policies`} are`;
}
