/**
 * The access lists as rules in front of all others. The most specific entry counts: those of one length stand in front of the
 * shorter ones, and a query that an entry was about is no further one's.
 */
import { networkText } from '../../../platform/addresses/index.ts';
import type { Access, AccessLists } from '../../detector/index.ts';
import { nameToText, nameToWire } from '../../protocol/index.ts';
import { all, fromNetworks, inZones, not, rule, tagged, tagIt, type Words } from './ruleData.ts';
import { TAG } from './rulesLoader.ts';

/** Two rules for what is denied: its reason, and that it is refused. */
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
  /** The higher, the more specific. */
  readonly rank: number;
  readonly access: Access;
}

/** Those that stand side by side and mean the same, together: most specific first, and what allows before what denies. */
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

function rulesOf(selector: Words, access: Access): string[] {
  const about = all([not(tagged(TAG.pays)), selector]);
  const listed = rule(`floodgate-${access}`, tagIt(TAG.pays, 'accessList'), about);
  if (access === 'allow') return [listed];
  // Before the reason is there: afterwards it could be another entry's.
  return [rule('floodgate-refuses', tagIt(TAG.refused, 'dropped'), about), listed];
}
