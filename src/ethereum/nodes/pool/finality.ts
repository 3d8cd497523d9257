import type { NodeHeads } from './nodeHeads.ts';

/** Rule that decides which blocks are final: as nodes report, those at a depth below the head or deeper, or none. */
export type Finality = 'node' | 'none' | { readonly depth: number };

/** Chain ids of Ganache and geth's developer mode, of anvil and Hardhat. Even their finalized blocks can be reset. */
const DEVELOPMENT_CHAINS: readonly number[] = [1_337, 31_337];

/** Default finality rule of a chain. */
export const defaultFinality = (chainId: number): Finality =>
  DEVELOPMENT_CHAINS.includes(chainId) ? 'none' : 'node';

/** Returns the number of the highest final block; undefined if no block is final. */
export function finalNumber(finality: Finality, heads: Partial<NodeHeads>): number | undefined {
  if (finality === 'none') return undefined;
  if (finality === 'node') return heads.finalized?.number;
  const number = heads.latest === undefined ? -1 : heads.latest.number - finality.depth;
  return number < 0 ? undefined : number;
}
