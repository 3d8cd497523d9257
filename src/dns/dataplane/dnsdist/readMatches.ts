import { RULE_NAMES } from './compileRules.ts';
import type { DnsdistConsole } from './console.ts';

/** What our rules matched since they were last changed, over all nodes, by reason. `showRules` prints a line a rule: its number, name, matches, and what it says. */
export async function readMatches(
  nodes: readonly DnsdistConsole[],
): Promise<Record<keyof typeof RULE_NAMES, number>> {
  const matches = { unknownName: 0, unknownNameOrType: 0, zoneRate: 0 };
  for (const node of nodes) {
    const table = await node.run('showRules()');
    for (const [reason, name] of Object.entries(RULE_NAMES) as [keyof typeof RULE_NAMES, string][]) // its own keys
      for (const line of table.split('\n'))
        if (line.includes(name)) matches[reason] += Number(/^\d+\s+\S+\s+(\d+)/.exec(line)?.[1] ?? 0);
  }
  return matches;
}
