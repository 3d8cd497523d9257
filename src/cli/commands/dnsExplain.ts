import type { Command } from 'commander';
import type { Explanation } from '../../dns/detector/index.ts';
import type { Rule } from '../../rules/index.ts';
import { OperatorError } from '../operatorError.ts';
import { print } from '../print.ts';
import { findInForce } from './dnsInForce.ts';
import { addConnectionFlags, connect } from './rulesConnection.ts';

interface ExplainOptions {
  readonly type: string;
  readonly json?: boolean;
}

/** `floodgate dns explain NAME`: what the guard would do with a name now, and why. */
export function registerDnsExplain(dns: Command): void {
  addConnectionFlags(dns.command('explain').description('say what the guard would do with a name, and why'))
    .argument('<name>', 'the domain name that is asked for')
    .option('--type <type>', 'the query type', 'A')
    .option('--json', 'print a JSON object')
    .action(async (name: string, options: ExplainOptions, command: Command) => {
      const { rule, analytics } = await findInForce(connect(command).client, { name, type: options.type });
      const { explanation } = analytics;
      if (explanation === undefined)
        throw new OperatorError('The server does not explain names: it is an older Floodgate');
      await print(options.json ? JSON.stringify(explanation) : inWords(explanation, rule));
    });
}

const WHY: Readonly<Record<string, string>> = {
  none: 'it does not have to pay',
  unknownName: 'it has to pay a token, because the name is not known',
  unknownType: 'it has to pay a token, because the name is known, but not with this type',
  aboveUsual: 'it has to pay a token, because the name is asked for far more than usual',
  zoneRate: 'it has to pay into the bucket of its zone, because any name is answered there',
};

function inWords(told: Explanation, rule: Rule): string {
  const zone = told.zone === '' ? 'no zone that the guard knows' : told.zone;
  return [
    `${told.name} ${told.type}: ${told.verdict}`,
    `  why    ${WHY[told.reason] ?? told.reason}`,
    `  name   ${told.known ? `known, with ${told.known_types.join(', ')}` : 'not known'}`,
    `  zone   ${zone}${told.zone_attacked ? ', under attack' : ''}${told.zone_judged_by_rate ? ', judged by rate alone' : ''}${told.zone_awaits_names ? ', whose names are still being read' : ''}`,
    `  rule   ${rule.id}, ${rule.mode}, profile sensitivity ${rule.profile_sensitivity}`,
  ].join('\n');
}
