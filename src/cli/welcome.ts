import { resolve } from 'node:path';
import { type Config, rolesOf } from '../config/index.ts';
import { exampleRule } from '../rules/index.ts';
import type { Server } from '../server/index.ts';
import { EXAMPLE_ZONE } from './example/exampleZone.ts';

/** Account in the printed examples. Any other name works as well. */
export const EXAMPLE_ACCOUNT = 'dev';

export interface ExampleQuery {
  readonly fromBlock: number;
  readonly toBlock: number;
  readonly fromAddress: readonly string[];
  readonly toAddress: readonly string[];
}

/** Number of traces in the example, small enough that the result fits on one screen. */
const EXAMPLE_COUNT = 2;

const RULES_PATH = 'network/advanced_dns_protection/configs/dns_protection/rules';

interface WelcomeDetails {
  readonly example: ExampleQuery | undefined;
  /** Link that signs in to the console once, within ten minutes. Undefined without a console. */
  readonly link: string | undefined;
  /**
   * Whether the example account has a rule. If so, no command to create a rule is printed, because the new rule would
   * override a rule with the same scope.
   */
  readonly hasRules: boolean;
  /** Why there is no gateway, and what to do. Undefined if there is one, or none is wanted. */
  readonly missing: string | undefined;
}

/** Returns the first output of `floodgate dev`: addresses, and commands to paste. */
export function welcome(
  { url, opsUrl, dnsAddresses }: Pick<Server, 'url' | 'opsUrl' | 'dnsAddresses'>,
  config: Config,
  { example, link, hasRules, missing }: WelcomeDetails,
): string {
  const socket = /^unix:(.*)$/.exec(opsUrl)?.[1];
  const api = `${socket === undefined ? opsUrl : 'http://localhost'}/client/v4`;
  const curl = socket === undefined ? 'curl -s' : `curl -s --unix-socket '${socket}'`;
  const rules = `${api}/accounts/${EXAMPLE_ACCOUNT}/${RULES_PATH}`;
  const gateway = `${url}/v1/mainnet`;
  const hasGateway = rolesOf(config).includes('gateway');
  const listRules = `${curl} '${rules}' -H 'Authorization: Bearer ${config.apiToken}'`;
  const filter = { ...example, count: EXAMPLE_COUNT };
  const call = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'trace_filter', params: [filter] });
  const commands = [
    ...(hasRules ? [] : [['Create a rule', `${listRules} --data '${JSON.stringify(exampleRule)}'`]]),
    ['List the rules', listRules],
    ...(hasGateway
      ? [['Query traces', `curl -s '${gateway}' -H 'Content-Type: application/json' --data '${call}'`]]
      : []),
    ...dnsAddresses
      .slice(0, 1)
      .map(({ host, port }) => [
        'Query the guarded DNS server',
        `dig @${host} -p ${port} www.${EXAMPLE_ZONE}`,
      ]),
  ];
  const lines = [
    'Floodgate is running.',
    '',
    ...(link === undefined || socket !== undefined ? [] : [`  Console     ${link}`]),
    `  Rules API   ${api}${socket === undefined ? '' : ` at ${socket}`}`,
    ...(hasGateway ? [`  Gateway     ${gateway}`] : []),
    ...(missing === undefined ? [] : [`  Gateway     not started: ${missing}`]),
    ...dnsAddresses.map(({ host, port }) => `  DNS         ${host} port ${port}, UDP and TCP`),
    `  Account     ${EXAMPLE_ACCOUNT}`,
    `  API token   ${config.apiToken}`,
    `  Data        ${resolve(config.dataDir)}`,
    '',
    ...commands.flatMap(([label, command]) => [`${label}:`, `${command}`, '']),
    'Press Ctrl-C to stop. The next start uses the same data.',
    '',
  ];
  return `${lines.join('\n')}\n`;
}
