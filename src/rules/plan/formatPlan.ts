import { type NewRule, type Rule, ruleFormat } from '../index.ts';
import { isEmpty, type Plan, planFingerprint } from './makePlan.ts';

export type Colour = 'green' | 'yellow' | 'red' | 'bold';
export type Paint = (colour: Colour, text: string) => string;

/** A plan for people: each rule with each field that changes, then what it comes to. `paint` may add colour. */
export function formatPlan(plan: Plan, paint: Paint, { settingMembers } = ruleFormat): string {
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
      `Plan ${planFingerprint(plan)}: ${creates.length} to create, ${updates.length} to change, ${deletes.length} to delete, ${unchanged.length} unchanged.`,
    ),
  ];
  return lines.join('\n');
}

function nameOf(rule: NewRule | Rule): string {
  // What a server sent must not move the cursor of whoever reads it.
  return `${rule.scope} ${rule.name.replaceAll(/\p{C}/gu, '\uFFFD')}`;
}

function count(number: number, noun: string): string {
  return number === 1 ? `1 ${noun} is` : `${number} ${noun}s are`;
}
