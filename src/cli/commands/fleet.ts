import type { Command } from 'commander';
import type { Instance } from '../../dns/fleet/index.ts';
import { OperatorError } from '../operatorError.ts';
import { print } from '../output/print.ts';
import { addConnectionFlags, connect } from './rules/rulesConnection.ts';
import { formatTable, momentOf } from './rules/rulesTable.ts';

const HEADINGS = [
  'region',
  'datacenter',
  'state',
  'last seen (UTC)',
  'rule',
  'mode',
  'since (UTC)',
  'version',
  'id',
];

/** `floodgate fleet`: lists the guards of an account. */
export function registerFleet(program: Command): void {
  addConnectionFlags(
    program
      .command('fleet')
      .description('list the guards of an account with location, state, rule in force and its start'),
  )
    .option('--json', 'print one JSON object per line')
    .action(async ({ json }: { json?: boolean }, command: Command) => {
      const reported = await (await connect(command)).client.fleet();
      if (!Array.isArray(reported))
        throw new OperatorError('The response is not from a Floodgate server; check the URL');
      const instances: readonly Instance[] = reported; // the format of this server's version
      if (json) for (const instance of instances) await print(JSON.stringify(instance));
      else if (instances.length === 0) await print('No guard of the account was seen in the last 7 days.');
      else await print(formatTable(HEADINGS, instances.map(rowOf)));
    });
}

const rowOf = ({
  id,
  region = '-',
  datacenter = '-',
  version,
  rule,
  rule_since,
  last_seen_on,
  is_up,
}: Instance): string[] => [
  region,
  datacenter,
  is_up ? 'up' : 'silent',
  momentOf(last_seen_on),
  rule?.id ?? 'none',
  rule?.mode ?? '-',
  momentOf(rule_since),
  version,
  id,
];
