import type { HeadBlock } from './nodeHeads.ts';

/** Rule that decides which blocks are final: as nodes report, those at a depth below the head or deeper, or none. */
export type Finality = 'node' | 'none' | { readonly depth: number };

/** Chain ids of Ganache and geth's developer mode, of anvil and Hardhat. Even their finalized blocks can be reset. */
const DEVELOPMENT_CHAINS: readonly number[] = [1_337, 31_337];

/** Default finality rule of a chain. */
export const defaultFinality = (chainId: number): Finality =>
  DEVELOPMENT_CHAINS.includes(chainId) ? 'none' : 'node';

type Heads = { readonly [Tag in 'latest' | 'finalized']?: HeadBlock | undefined };

/** Returns the number of the highest final block; undefined if no block is final. */
export function finalNumber(finality: Finality, { latest, finalized }: Heads): number | undefined {
  if (finality === 'none') return undefined;
  if (finality === 'node') return finalized?.number;
  const number = latest === undefined ? -1 : latest.number - finality.depth;
  return number < 0 ? undefined : number;
}
