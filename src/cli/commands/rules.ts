import { type Command, Option } from 'commander';
import {
  modes,
  type NewRule,
  profileSensitivities,
  type Rule,
  type RuleSettings,
  scopes,
  sensitivities,
  settingMembers,
} from '../../rules/index.ts';
import { formatRuleFile } from '../../rules/plan/index.ts';
import { OperatorError } from '../operatorError.ts';
import { print } from '../print.ts';
import { readRuleId, readRuleIds } from './idArguments.ts';
import { addConnectionFlags, connect } from './rulesConnection.ts';
import { registerPlan } from './rulesPlan.ts';
import { formatTable } from './rulesTable.ts';

/** `floodgate rules …`: manages rules over the API of any server, by URL and token. */
export function registerRules(program: Command): void {
  const rules = program
    .command('rules')
    .description('manage DNS protection rules of a server, by URL and token');

  add(rules, 'list', 'list the rules of an account')
    .option('--json', 'print a JSON object a line')
    .action(list);

  const create = add(rules, 'create', 'create a rule')
    .addOption(new Option('--scope <scope>', 'where it applies').choices(scopes).makeOptionMandatory())
    .requiredOption('--name <name>', 'name of the region or datacenter; a label for global');
  for (const option of settingOptions()) create.addOption(option.makeOptionMandatory());
  create.option('--json', 'print the rule as JSON').action(createRule);

  const update = add(rules, 'update', 'change settings of a rule').argument(
    '<id>',
    'id of the rule',
    readRuleId,
  );
  for (const option of settingOptions()) update.addOption(option);
  update.option('--json', 'print the rule as JSON').action(updateRule);

  add(rules, 'delete', 'delete rules')
    .argument('[id...]', 'ids of the rules', readRuleIds)
    .option('--all', 'every rule of the account')
    .action(deleteRules);

  add(rules, 'export', 'print all rules as a file for plan and apply').action(exportRules);

  registerPlan(rules);
}

function add(rules: Command, name: string, description: string): Command {
  return addConnectionFlags(rules.command(name).description(description));
}

/** One flag for each setting, named as in a rule with dashes. */
function settingOptions(): Option[] {
  return [
    new Option('--mode <mode>').choices(modes),
    new Option('--profile-sensitivity <level>').choices(profileSensitivities),
    new Option('--rate-sensitivity <level>').choices(sensitivities),
    new Option('--burst-sensitivity <level>').choices(sensitivities),
  ];
}

interface RuleFlags {
  readonly scope?: string;
  readonly name?: string;
  readonly mode?: string;
  readonly profileSensitivity?: string;
  readonly rateSensitivity?: string;
  readonly burstSensitivity?: string;
  readonly json?: boolean;
}

async function list(options: { json?: boolean }, command: Command): Promise<void> {
  const rules = await connect(command).client.list();
  if (options.json) for (const rule of rules) await print(JSON.stringify(rule));
  else await print(tableOf(rules));
}

async function createRule(flags: RuleFlags, command: Command): Promise<void> {
  const { scope, name } = flags;
  const rule = { scope, name, ...settingsOf(flags) } as NewRule; // all flags are mandatory; the server checks the values
  const created = await connect(command).client.create(rule);
  for (const message of created.messages) process.stderr.write(`note: ${message}\n`);
  await show(created.rule, flags);
}

async function updateRule(id: string, flags: RuleFlags, command: Command): Promise<void> {
  const changes = settingsOf(flags);
  if (Object.keys(changes).length === 0)
    throw new OperatorError(
      `Say what to change: ${settingMembers.map((member) => `--${member.replace('_', '-')}`).join(', ')}`,
    );
  await show(await connect(command).client.update(id, changes), flags);
}

async function deleteRules(ids: string[], options: { all?: boolean }, command: Command): Promise<void> {
  const all = options.all ?? false;
  if (all === ids.length > 0)
    throw new OperatorError('Say which rules to delete: their ids, or --all for every rule of the account');
  const { client, account } = connect(command);
  if (all) {
    await client.deleteAll();
    await print(`all rules of account ${account} deleted`);
    return;
  }
  for (const id of ids) {
    await client.delete(id);
    await print(`${id} deleted`);
  }
}

async function exportRules(_options: object, command: Command): Promise<void> {
  const { client, account } = connect(command);
  await print(formatRuleFile(account, await client.list()).trimEnd());
}

function settingsOf(flags: RuleFlags): Partial<RuleSettings> {
  const settings = {
    mode: flags.mode,
    profile_sensitivity: flags.profileSensitivity,
    rate_sensitivity: flags.rateSensitivity,
    burst_sensitivity: flags.burstSensitivity,
  };
  const given = Object.entries(settings).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given) as Partial<RuleSettings>; // each flag allows only the values of its setting
}

function show(rule: Rule, { json }: { json?: boolean }): Promise<void> {
  return print(json ? JSON.stringify(rule) : tableOf([rule]));
}

function tableOf(rules: readonly Rule[]): string {
  const headings = ['id', 'scope', 'name', 'mode', 'profile', 'rate', 'burst', 'modified (UTC)'];
  return formatTable(
    headings,
    rules.map((rule) => [
      rule.id,
      rule.scope,
      rule.name,
      ...settingMembers.map((member) => rule[member]),
      rule.modified_on.slice(0, 19).replace('T', ' '),
    ]),
  );
}
