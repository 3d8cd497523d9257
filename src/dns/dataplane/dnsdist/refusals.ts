/**
 * dnsdist rules that do not depend on the rule in force. Like the embedded data plane, they reject opcodes other than
 * QUERY, messages without exactly one question or with several OPT records, and zone transfers that are not allowed.
 */
import { type Network, networkText } from '../../../platform/addresses/index.ts';
import { OPT_TYPE, QueryType } from '../../protocol/index.ts';

/** A dnsdist rule, written in Lua. */
export interface Refusal {
  readonly selector: string;
  readonly action: string;
  readonly name: string;
}

/** Returns a refusal as a Lua expression that `setRules` of dnsdist accepts. */
export const refusalRule = ({ selector, action, name }: Refusal): string =>
  `newRuleAction(${selector},${action},{name="${name}"})`;

export const refusalsOf = (transfersAllow: readonly Network[]): readonly Refusal[] => [
  {
    name: 'floodgate-opcode',
    selector: 'NotRule(OpcodeRule(DNSOpcode.Query))',
    action: 'RCodeAction(DNSRCode.NOTIMP)',
  },
  {
    // dnsdist checks only the first question of a query, so queries with several questions must not be forwarded.
    name: 'floodgate-questions',
    selector: 'NotRule(RecordsCountRule(DNSSection.Question,1,1))',
    action: 'RCodeAction(DNSRCode.FORMERR)',
  },
  {
    // The first selector is cheap, so that dnsdist parses the records of few queries.
    name: 'floodgate-opt',
    selector: `AndRule({${additional('RecordsCountRule')},${additional('RecordsTypeCountRule', OPT_TYPE)}})`,
    action: 'RCodeAction(DNSRCode.FORMERR)',
  },
  {
    name: 'floodgate-transfer',
    selector: `AndRule({${TRANSFER}${transfersAllow.length === 0 ? '' : `,${notFrom(transfersAllow)}`}})`,
    action: 'RCodeAction(DNSRCode.REFUSED)',
  },
];

/** Selector of queries with at least two additional records, of any type or of one type. */
const additional = (selector: string, ...type: readonly number[]): string =>
  `${selector}(${['DNSSection.Additional', ...type, 2, 0xffff].join(',')})`;

const TRANSFER = `OrRule({QTypeRule(${QueryType.AXFR}),QTypeRule(${QueryType.IXFR})})`;

/** Selector of queries that are not from one of the networks over TCP. `networkText` contains nothing to escape. */
const notFrom = (networks: readonly Network[]): string =>
  `NotRule(AndRule({TCPRule(true),NetmaskGroupRule((function() local allowed=newNMG() ` +
  `${networks.map((network) => `allowed:addMask("${networkText(network)}") `).join('')}return allowed end)())}))`;
