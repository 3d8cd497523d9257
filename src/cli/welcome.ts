import { resolve } from 'node:path';
import type { Config } from '../config/index.ts';
import { exampleRule } from '../rules/index.ts';
import type { Server } from '../server/index.ts';
import { EXAMPLE_ZONE } from './exampleZone.ts';

/** The account that the printed examples use; any other name works as well. */
export const EXAMPLE_ACCOUNT = 'dev';

/** Traces that the printed example asks for. */
export interface ExampleQuery {
  readonly fromBlock: number;
  readonly toBlock: number;
  readonly fromAddress: readonly string[];
  readonly toAddress: readonly string[];
}

/** An answer that a terminal shows without scrolling. */
const EXAMPLE_COUNT = 2;

const RULES_PATH = 'network/advanced_dns_protection/configs/dns_protection/rules';

interface Shown {
  readonly example: ExampleQuery | undefined;
  /** Signs in to the console once, within ten minutes; none where it is not served. */
  readonly code: string | undefined;
}

/** What `floodgate dev` prints first: where everything is, and lines to paste. */
export function welcome(
  { url, opsUrl, dnsAddresses }: Pick<Server, 'url' | 'opsUrl' | 'dnsAddresses'>,
  config: Config,
  { example, code }: Shown,
): string {
  const socket = /^unix:(.*)$/.exec(opsUrl)?.[1];
  const api = `${socket === undefined ? opsUrl : 'http://localhost'}/client/v4`;
  const curl = socket === undefined ? 'curl -s' : `curl -s --unix-socket '${socket}'`;
  const rules = `${api}/accounts/${EXAMPLE_ACCOUNT}/${RULES_PATH}`;
  const gateway = `${url}/v1/mainnet`;
  const rule = JSON.stringify(exampleRule);
  const filter = { ...example, count: EXAMPLE_COUNT };
  const call = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'trace_filter', params: [filter] });
  const asks = [
    ...['Create a rule', 'list the rules'],
    ...(config.rulesOnly ? [] : ['ask for traces']),
    ...(dnsAddresses.length === 0 ? [] : ['ask the guarded DNS server']),
  ];
  const lines = [
    'Floodgate is running.',
    '',
    ...(code === undefined || socket !== undefined ? [] : [`  Console     ${opsUrl}/console/#code=${code}`]),
    `  Rules API   ${api}${socket === undefined ? '' : ` at ${socket}`}`,
    ...(config.rulesOnly ? [] : [`  Gateway     ${gateway}`]),
    ...dnsAddresses.map(({ host, port }) => `  DNS         ${host} port ${port}, UDP and TCP`),
    `  Account     ${EXAMPLE_ACCOUNT}`,
    `  API token   ${config.apiToken}`,
    `  Data        ${resolve(config.dataDir)}`,
    '',
    `${asks.join(', ')}:`,
    '',
    `${curl} '${rules}' -H 'Authorization: Bearer ${config.apiToken}' --data '${rule}'`,
    `${curl} '${rules}' -H 'Authorization: Bearer ${config.apiToken}'`,
    ...(config.rulesOnly
      ? []
      : [`curl -s '${gateway}' -H 'Content-Type: application/json' --data '${call}'`]),
    ...dnsAddresses.slice(0, 1).map(({ host, port }) => `dig @${host} -p ${port} www.${EXAMPLE_ZONE}`),
    '',
    'Ctrl-C stops it. The next start finds the data again.',
    '',
  ];
  return `${lines.join('\n')}\n`;
}
