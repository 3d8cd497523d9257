/** Compiles the access lists to dnsdist rules. They precede all rate limits. The most specific entry is decisive. */
import { networkText } from '../../../platform/addresses/index.ts';
import type { Access, AccessLists } from '../../detector/index.ts';
import { nameToText, nameToWire } from '../../protocol/index.ts';
import { all, fromNetworks, inZones, not, type RuleExpression, rule, setTag, tagged } from './ruleData.ts';
import { TAG } from './rulesLoader.ts';

/** Returns the rules. A group of `deny` entries becomes two: one tags the query as refused, one tags the reason. */
export function accessRulesOf({ networks, names }: AccessLists): string[] {
  const byLength = networks.map(({ network, access }) => {
    return { of: networkText(network), rank: network.bits, access };
  });
  const byDepth = names.map(({ name, access }) => {
    const text = nameToText(nameToWire(name));
    return { of: text, rank: text.split('.').length, access };
  });
  return [
    ...inOrder(byLength).flatMap(({ of, access }) => rulesOf(fromNetworks(of), access)),
    ...inOrder(byDepth).flatMap(({ of, access }) => rulesOf(inZones(of), access)),
  ];
}

interface Entry {
  readonly of: string;
  /** Prefix length of a network, or number of labels of a name. Higher is more specific. */
  readonly rank: number;
  readonly access: Access;
}

/**
 * Sorts entries: the most specific first, and `allow` before `deny` if equally specific. Then groups adjacent entries
 * with the same access.
 */
function inOrder(entries: readonly Entry[]): { readonly of: string[]; readonly access: Access }[] {
  const groups: { of: string[]; access: Access }[] = [];
  const sorted = entries.toSorted((a, b) => b.rank - a.rank || a.access.localeCompare(b.access));
  for (const { of, access } of sorted) {
    const last = groups.at(-1);
    if (last?.access === access) last.of.push(of);
    else groups.push({ of: [of], access });
  }
  return groups;
}

function rulesOf(selector: RuleExpression, access: Access): string[] {
  const about = all([not(tagged(TAG.pays)), selector]);
  const listed = rule(`floodgate-${access}`, setTag(TAG.pays, 'accessList'), about);
  if (access === 'allow') return [listed];
  // The rule that tags the reason is last, because these two rules match only queries without a reason.
  return [rule('floodgate-refuses', setTag(TAG.refused, 'dropped'), about), listed];
}
