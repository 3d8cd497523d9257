import type { UnavailableBlock } from '../../ethereum/traces/index.ts';

/** Maximum number of blocks that a text names. */
const MAX_NAMED = 5;

/** Returns block numbers with the reasons why these are unavailable: `17 (oversized), 21 (timeout) and 3 more`. */
export function namedBlocks(blocks: readonly Pick<UnavailableBlock, 'number' | 'unavailable'>[]): string {
  const named = blocks.slice(0, MAX_NAMED).map(({ number, unavailable }) => `${number} (${unavailable})`);
  const more = blocks.length - named.length;
  return `${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** Returns a text for operators about a network's unavailable blocks; undefined if there are none. */
export function unavailableText(blocks: readonly UnavailableBlock[]): string | undefined {
  if (blocks.length === 0) return undefined;
  const [subject, them] = blocks.length === 1 ? ['block is', 'it'] : ['blocks are', 'them'];
  return `${blocks.length} ${subject} unavailable, because no node can trace ${them}: ${namedBlocks(blocks)}`;
}
