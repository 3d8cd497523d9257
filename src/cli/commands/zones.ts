import { type Command, InvalidArgumentError, Option } from 'commander';
import type { RulesClient } from '../../rules/client/index.ts';
import {
  BadZoneError,
  canonicalZone,
  type ZonePolicy,
  type ZonePolicyChanges,
  type ZonePolicyField,
  type ZonePolicySettings,
  zonePolicyFields,
} from '../../rules/index.ts';
import { OperatorError, UsageError } from '../operatorError.ts';
import { print } from '../output/print.ts';
import { flagName } from './rules/ruleFlags.ts';
import { addConnectionFlags, connect } from './rules/rulesConnection.ts';
import { formatTable, momentOf } from './rules/rulesTable.ts';

interface ShowOptions {
  readonly json?: boolean;
}

/** Value of a flag that clears a field. */
const CLEAR = 'none';
const SETTINGS = zonePolicyFields.filter(({ isSetting }) => isSetting);

/** `floodgate zones`: manages the policies of zones through a server's API. */
export function registerZones(program: Command): void {
  const zones = program
    .command('zones')
    .description('manage the policies of single zones on a server, by URL and token');

  add(zones, 'list', 'list the zone policies of an account')
    .option('--json', 'print one JSON object per line')
    .action(listPolicies);

  add(zones, 'get', 'show the policy of a zone')
    .argument('<zone>', 'name of the zone', readZone)
    .option('--json', 'print the policy as JSON')
    .action(showPolicy);

  const create = add(zones, 'create', 'create a policy for a zone').argument(
    '<zone>',
    'name of the zone; . for the root',
    readZone,
  );
  for (const field of SETTINGS) create.addOption(flagOf(field));
  create.option('--json', 'print the policy as JSON').action(createPolicy);

  const update = add(zones, 'update', 'change settings of the policy of a zone').argument(
    '<zone>',
    'name of the zone',
    readZone,
  );
  for (const field of SETTINGS) update.addOption(flagOf(field));
  update.option('--json', 'print the policy as JSON').action(updatePolicy);

  add(zones, 'delete', 'delete the policies of zones')
    .argument('[zone...]', 'names of the zones', readZones)
    .option('--all', 'all zone policies of the account')
    .action(deletePolicies);
}

function add(zones: Command, name: string, description: string): Command {
  return addConnectionFlags(zones.command(name).description(description));
}

async function listPolicies(options: ShowOptions, command: Command): Promise<void> {
  const policies = await (await connect(command)).client.zones.list();
  if (options.json) for (const policy of policies) await print(JSON.stringify(policy));
  else await print(tableOf(policies));
}

async function showPolicy(zone: string, options: ShowOptions, command: Command): Promise<void> {
  const policy = await policyOf((await connect(command)).client, zone);
  const rows = Object.entries(policy).map(([member, value]) => [member, String(value ?? CLEAR)]);
  await print(options.json ? JSON.stringify(policy) : formatTable(['field', 'value'], rows));
}

async function createPolicy(zone: string, options: ShowOptions, command: Command): Promise<void> {
  const { item } = await (await connect(command)).client.zones.create({ zone, ...flaggedSettings(command) });
  await print(options.json ? JSON.stringify(item) : tableOf([item]));
}

async function updatePolicy(zone: string, options: ShowOptions, command: Command): Promise<void> {
  const changes = flaggedSettings(command);
  if (Object.keys(changes).length === 0)
    throw new UsageError(
      `No setting was given; use at least one of ${SETTINGS.map(({ member }) => flagName(member)).join(', ')}`,
    );
  const { client } = await connect(command);
  const { id } = await policyOf(client, zone);
  const policy = await client.zones.update(id, changes);
  await print(options.json ? JSON.stringify(policy) : tableOf([policy]));
}

async function deletePolicies(
  zones: string[],
  { all = false }: { all?: boolean },
  command: Command,
): Promise<void> {
  if (all === zones.length > 0)
    throw new UsageError('Use the names of the zones, or --all for all zone policies of the account');
  const { client, account } = await connect(command);
  if (all) {
    await client.zones.deleteAll();
    await print(`all zone policies of account ${account} deleted`);
    return;
  }
  for (const zone of zones) {
    await client.zones.delete((await policyOf(client, zone)).id);
    await print(`policy of ${zone} deleted`);
  }
}

/** Returns the policy of a zone. Throws `OperatorError` if it does not exist. */
export async function policyOf(client: RulesClient, zone: string): Promise<ZonePolicy> {
  const policy = (await client.zones.list()).find((one) => one.zone === zone);
  if (policy === undefined)
    throw new OperatorError(
      `Account ${client.accountId} has no policy for the zone ${zone}; \`floodgate zones list\` lists all`,
    );
  return policy;
}

export function readZone(value: string): string {
  try {
    return canonicalZone(value);
  } catch (error) {
    if (!(error instanceof BadZoneError)) throw error;
    throw new InvalidArgumentError(error.message);
  }
}

const readZones = (value: string, before: readonly string[] = []): string[] => [...before, readZone(value)];

/** Returns a flag such as `--judge-by <value>`. */
function flagOf({ member, schema }: ZonePolicyField): Option {
  const { enum: values, description } = schema;
  const isClearable = typesOf(schema).includes('null');
  const option = new Option(
    `${flagName(member)} <value>`,
    `${description ?? ''}${isClearable ? ` ${CLEAR} clears it.` : ''}`,
  );
  if (values !== undefined) return option.choices(values.map((value) => String(value ?? CLEAR)));
  return option;
}

/** Returns the settings that the user gave by flags. The server checks their limits, which may be those of a newer one. */
function flaggedSettings(command: Command): ZonePolicyChanges {
  const flags = command.opts<Readonly<Record<string, string | undefined>>>();
  const given = SETTINGS.flatMap((field) => {
    const text = flags[flagOf(field).attributeName()];
    return text === undefined ? [] : [[field.member, readValue(field, text)]];
  });
  return Object.fromEntries(given) as ZonePolicyChanges; // the flags are those of settings
}

function readValue({ member, schema }: ZonePolicyField, text: string): string | number | boolean | null {
  const types = typesOf(schema);
  if (text === CLEAR && types.includes('null')) return null;
  if (types.includes('integer')) {
    if (!/^\d{1,15}$/.test(text)) throw badValue(member, text, `an integer, or ${CLEAR}`);
    return Number(text);
  }
  if (!types.includes('boolean')) return text;
  if (text !== 'true' && text !== 'false') throw badValue(member, text, 'true or false');
  return text === 'true';
}

function badValue(member: string, text: string, allowed: string): UsageError {
  return new UsageError(`${flagName(member)} is ${JSON.stringify(text)}; it must be ${allowed}`);
}

const typesOf = ({ type = [] }: ZonePolicyField['schema']): string[] => [type].flat();

const COLUMNS = ['id', 'zone', 'mode', 'judge_by', 'rate', 'burst', 'comment'] as const satisfies readonly (
  | 'id'
  | keyof ZonePolicySettings
)[];

function tableOf(policies: readonly ZonePolicy[]): string {
  return formatTable(
    [...COLUMNS.map((column) => column.replaceAll('_', ' ')), 'modified (UTC)'],
    policies.map((policy) => [
      ...COLUMNS.map((column) => String(policy[column] ?? '')),
      momentOf(policy.modified_on),
    ]),
  );
}
