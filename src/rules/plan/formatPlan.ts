import { type NewRule, type Rule, type RuleFormat, ruleFormat } from '../index.ts';
import { isEmpty, type Plan, type PlanSubject, planFingerprint, riskOf } from './makePlan.ts';

export type Colour = 'green' | 'yellow' | 'red' | 'bold';
export type Paint = (colour: Colour, text: string) => string;

export interface PlanTextOptions {
  readonly subject: PlanSubject;
  /** Returns a line of the plan in a colour, or unchanged if colours are off. */
  readonly paint: Paint;
  readonly format?: RuleFormat;
}

/** Formats a plan for people: each rule to change, create or delete with its fields, then the totals. */
export function formatPlan(plan: Plan, { subject, paint, format = ruleFormat }: PlanTextOptions): string {
  const { settingMembers } = format;
  if (isEmpty(plan)) return `Nothing to do: ${count(plan.unchanged.length, 'rule')} as in the file.`;
  const { creates, updates, deletes, unchanged } = plan;
  const lines = [
    ...updates.flatMap(({ rule, changes }) => [
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
    '',
    paint(
      'bold',
      `Plan ${planFingerprint(plan, subject)}: ${creates.length} to create, ${updates.length} to change, ${deletes.length} to delete, ${unchanged.length} unchanged.`,
    ),
  ];
  return lines.join('\n');
}

/** Formats a plan for programs, as one line of JSON. */
export function planAsJson(plan: Plan, subject: PlanSubject): string {
  const { creates, updates, deletes, unchanged } = plan;
  return JSON.stringify({
    plan: planFingerprint(plan, subject),
    server: subject.baseUrl,
    account: subject.accountId,
    creates,
    updates,
    deletes,
    unchanged: unchanged.length,
    risk: riskOf(plan) ?? null,
  });
}

function nameOf(rule: NewRule | Rule): string {
  // Control characters are replaced, so that a rule name from a server cannot control the terminal.
  return `${rule.scope} ${rule.name.replaceAll(/\p{C}/gu, '\uFFFD')}`;
}

function count(number: number, noun: string): string {
  return number === 1 ? `1 ${noun} is` : `${number} ${noun}s are`;
}
