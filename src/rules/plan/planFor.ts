import type { RulesClient } from '../client/index.ts';
import { makePlan, makeZonePlan, type Plan } from './makePlan.ts';
import type { RuleFile } from './ruleFile.ts';

/** Compares a rules file with the account of a client. Reads zone policies only if the file has a list of them. */
export async function planFor(
  client: RulesClient,
  { rules, zones }: Pick<RuleFile, 'rules' | 'zones'>,
): Promise<Plan> {
  const plan = makePlan(await client.rules.list(), rules, client.format);
  return zones === undefined ? plan : { ...plan, zones: makeZonePlan(await client.zones.list(), zones) };
}
