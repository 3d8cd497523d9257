import type { Command } from 'commander';
import { ApiFailure, type RulesClient } from '../../../rules/client/index.ts';
import {
  isRuleId,
  type NewRule,
  type Rule,
  type RuleFormat,
  type RuleSettings,
  ruleFormat,
  type ZonePolicy,
} from '../../../rules/index.ts';
import { formatRuleFile } from '../../../rules/plan/index.ts';
import { UsageError } from '../../operatorError.ts';
import { print } from '../../output/print.ts';
import { completeId, readRuleIdStart, readRuleIdStarts, shownId } from '../idArguments.ts';
import { completeFields } from './askFields.ts';
import { flaggedFields, flagName, flagOf } from './ruleFlags.ts';
import { addConnectionFlags, connect } from './rulesConnection.ts';
import { registerPlan } from './rulesPlan.ts';
import { formatTable, momentOf } from './rulesTable.ts';

interface ShowOptions {
  readonly json?: boolean;
}

/** `floodgate rules`: manages rules through a server's API. */
export function registerRules(program: Command, format: RuleFormat = ruleFormat): void {
  const rules = program
    .command('rules')
    .description('manage DNS protection rules of a server, by URL and token');

  add(rules, 'list', 'list the rules of an account')
    .option('--json', 'print one JSON object per line')
    .action((options: ShowOptions, command: Command) => list(format, options, command));

  const create = add(rules, 'create', 'create a rule');
  for (const field of format.fields) create.addOption(flagOf(field));
  create
    .option('--json', 'print the rule as JSON')
    .action((options: ShowOptions, command: Command) => createRule(format, options, command));

  const update = add(rules, 'update', 'change settings of a rule').argument(
    '<id>',
    'id of the rule',
    readRuleIdStart,
  );
  for (const field of format.fields.filter(({ isSetting }) => isSetting)) update.addOption(flagOf(field));
  update
    .option('--json', 'print the rule as JSON')
    .action((id: string, _options: ShowOptions, command: Command) => updateRule(format, id, command));

  add(rules, 'delete', 'delete rules')
    .argument('[id...]', 'ids of the rules', readRuleIdStarts)
    .option('--all', 'all rules of the account')
    .action(deleteRules);

  add(rules, 'export', 'print all rules and zone policies as a file for plan and apply').action(
    (_options: object, command: Command) => exportRules(format, command),
  );

  registerPlan(rules, format);
}

function add(rules: Command, name: string, description: string): Command {
  return addConnectionFlags(rules.command(name).description(description));
}

async function list(format: RuleFormat, options: ShowOptions, command: Command): Promise<void> {
  const rules = await (await connect(command, { format })).client.rules.list();
  if (options.json) for (const rule of rules) await print(JSON.stringify(rule));
  else await print(tableOf(format, rules));
}

async function createRule(format: RuleFormat, options: ShowOptions, command: Command): Promise<void> {
  const rule = (await completeFields(command, format.fields)) as unknown as NewRule; // has all mandatory fields; the server checks the values
  const { client } = await connect(command, { format });
  const created = await client.rules.create(rule);
  for (const message of created.messages) process.stderr.write(`note: ${message}\n`);
  await print(options.json ? JSON.stringify(created.item) : tableOf(format, [created.item]));
}

async function updateRule(format: RuleFormat, id: string, command: Command): Promise<void> {
  const settings = format.fields.filter(({ isSetting }) => isSetting);
  const changes: Partial<RuleSettings> = flaggedFields(command, settings);
  if (Object.keys(changes).length === 0)
    throw new UsageError(
      `No setting was given; use at least one of ${format.settingMembers.map(flagName).join(', ')}`,
    );
  const { client } = await connect(command, { format });
  const rule = await client.rules.update(await ruleIdOf(client, id), changes);
  await print(command.opts<ShowOptions>().json ? JSON.stringify(rule) : tableOf(format, [rule]));
}

async function deleteRules(ids: string[], options: { all?: boolean }, command: Command): Promise<void> {
  const all = options.all ?? false;
  if (all === ids.length > 0)
    throw new UsageError('Use the ids of the rules to delete, or --all for all rules of the account');
  const { client, account } = await connect(command);
  if (all) {
    await client.rules.deleteAll();
    await print(`all rules of account ${account} deleted`);
    return;
  }
  const complete: string[] = [];
  for (const id of ids) complete.push(await ruleIdOf(client, id));
  for (const id of complete) {
    await client.rules.delete(id);
    await print(`${id} deleted`);
  }
}

/** Returns the id of the rule whose id begins with `start`. */
async function ruleIdOf({ rules }: RulesClient, start: string): Promise<string> {
  if (isRuleId(start)) return start;
  return completeId(
    start,
    (await rules.list()).map(({ id }) => id),
  );
}

async function exportRules(format: RuleFormat, command: Command): Promise<void> {
  const { client, account } = await connect(command, { format });
  const [rules, zones] = [await client.rules.list(), await zonesOf(client)];
  await print(formatRuleFile({ account, rules, zones }, format).trimEnd());
}

/** Returns the zone policies of the account; none for Cloudflare's own API, which has no such resource. */
async function zonesOf({ zones }: RulesClient): Promise<ZonePolicy[]> {
  try {
    return await zones.list();
  } catch (error) {
    if (error instanceof ApiFailure && error.status === 404) return [];
    throw error;
  }
}

function tableOf({ newRuleMembers }: RuleFormat, rules: readonly Rule[]): string {
  return formatTable(
    ['id', ...newRuleMembers.map(headingOf), 'modified (UTC)'],
    rules.map((rule) => [
      shownId(rule.id),
      ...newRuleMembers.map((member) => String(rule[member])),
      momentOf(rule.modified_on),
    ]),
  );
}

function headingOf(member: string): string {
  return member.replace(/_sensitivity$/, '').replaceAll('_', ' ');
}
