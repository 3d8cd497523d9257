import type { NodeHeads } from './nodeHeads.ts';

/** Which blocks count as final: those that the node calls so, those at a depth below the head, or none ever. */
export type Finality = 'node' | 'none' | { readonly depth: number };

/** Ganache and geth's developer mode; anvil and Hardhat. Their chains are set back at will, also below what they call final. */
const DEVELOPMENT_CHAINS: readonly number[] = [1_337, 31_337];

/** What holds on a chain where nothing was configured. */
export const defaultFinality = (chainId: number): Finality =>
  DEVELOPMENT_CHAINS.includes(chainId) ? 'none' : 'node';

/** The highest block that is final; undefined where there is none. */
export function finalNumber(finality: Finality, heads: Partial<NodeHeads>): number | undefined {
  if (finality === 'none') return undefined;
  if (finality === 'node') return heads.finalized?.number;
  const number = heads.latest === undefined ? -1 : heads.latest.number - finality.depth;
  return number < 0 ? undefined : number;
}
