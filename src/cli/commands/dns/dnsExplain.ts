import type { Command } from 'commander';
import type { Explanation } from '../../../dns/detector/index.ts';
import type { Rule } from '../../../rules/index.ts';
import { OperatorError } from '../../operatorError.ts';
import { print } from '../../output/print.ts';
import { addConnectionFlags, connect } from '../rules/rulesConnection.ts';
import { findInForce } from './dnsInForce.ts';

interface ExplainOptions {
  readonly type: string;
  readonly json?: boolean;
}

/** `floodgate dns explain NAME`: shows the guard's current verdict on queries for a name, and the reason. */
export function registerDnsExplain(dns: Command): void {
  addConnectionFlags(
    dns.command('explain').description('explain how the guard would treat a query for a name'),
  )
    .argument('<name>', 'domain name of the query')
    .option('--type <type>', 'the query type', 'A')
    .option('--json', 'print a JSON object')
    .action(async (name: string, options: ExplainOptions, command: Command) => {
      const { rule, analytics } = await findInForce((await connect(command)).client, {
        name,
        type: options.type,
      });
      const { explanation } = analytics;
      if (explanation === undefined)
        throw new OperatorError('The server cannot explain verdicts: it runs an older version of Floodgate');
      await print(options.json ? JSON.stringify(explanation) : formatExplanation(explanation, rule));
    });
}

const WHY: Readonly<Record<string, string>> = {
  none: 'the query uses no token of the rate limit',
  unknownName: 'the query uses a token of the rate limit, because the name is not known',
  unknownType: 'the query uses a token of the rate limit, because the name is known, but not with this type',
  aboveUsual:
    'the query uses a token of the rate limit, because the name is queried far more often than usual',
  zoneRate: 'the query uses a token of its zone’s rate limit, because the zone is limited by rate',
  accessList: 'an access list contains the name, or a name above it',
};

function formatExplanation(reported: Explanation, rule: Rule): string {
  const zone = reported.zone === '' ? 'none that the guard knows' : reported.zone;
  return [
    `${reported.name} ${reported.type}: ${reported.verdict}`,
    `  why    ${WHY[reported.reason] ?? reported.reason}`,
    `  name   ${reported.known ? `known, with ${reported.known_types.join(', ')}` : 'not known'}`,
    `  zone   ${zone}${reported.zone_attacked ? ', under attack' : ''}${reported.zone_judged_by_rate ? ', judged by rate alone' : ''}${reported.zone_awaits_names ? ', names still being loaded' : ''}`,
    `  rule   ${rule.id}, ${rule.mode}, profile sensitivity ${rule.profile_sensitivity}`,
  ].join('\n');
}
