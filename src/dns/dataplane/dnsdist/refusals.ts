/**
 * What dnsdist refuses whatever the rule in force is, as the embedded guard does: zone transfers but those allowed, and all
 * that is no query. In its configuration as in the rules sent to it, in front of everything else.
 */
import { type Network, networkText } from '../../../platform/addresses/index.ts';
import { QueryType } from '../../protocol/index.ts';

/** A rule of dnsdist's in Lua. */
export interface Refusal {
  readonly selector: string;
  readonly action: string;
  readonly name: string;
}

/** As a rule for `setRules`. */
export const refusalRule = ({ selector, action, name }: Refusal): string =>
  `newRuleAction(${selector},${action},{name="${name}"})`;

export const refusalsOf = (transfersAllow: readonly Network[]): readonly Refusal[] => [
  {
    name: 'floodgate-opcode',
    selector: 'NotRule(OpcodeRule(DNSOpcode.Query))',
    action: 'RCodeAction(DNSRCode.NOTIMP)',
  },
  {
    // dnsdist reads the first question alone; whatever a server behind makes of two, it is not asked.
    name: 'floodgate-questions',
    selector: 'NotRule(RecordsCountRule(DNSSection.Question,1,1))',
    action: 'RCodeAction(DNSRCode.FORMERR)',
  },
  {
    name: 'floodgate-transfer',
    selector: `AndRule({${TRANSFER}${transfersAllow.length === 0 ? '' : `,${notFrom(transfersAllow)}`}})`,
    action: 'RCodeAction(DNSRCode.REFUSED)',
  },
];

const TRANSFER = `OrRule({QTypeRule(${QueryType.AXFR}),QTypeRule(${QueryType.IXFR})})`;

/** The texts of networks are digits, letters, dots, colons and a slash: nothing that could end a Lua string. */
const notFrom = (networks: readonly Network[]): string =>
  `NotRule(AndRule({TCPRule(true),NetmaskGroupRule((function() local allowed=newNMG() ` +
  `${networks.map((network) => `allowed:addMask("${networkText(network)}") `).join('')}return allowed end)())}))`;
