import type { NetworkHeads } from '../../nodes/index.ts';
import type { LogFilter } from '../methods/logFilter.ts';
import { isTag } from '../methods/paramTypes.ts';
import type { RelayedRow } from '../methods/row.ts';

/** Identifier for a result that is the same on every fork. */
const ANY = 'any';

/**
 * Returns an identifier of the chain state that a result depends on. Two requests with equal parameters and equal
 * identifiers have equal results. Returns undefined if the state is unknown. Block tags refer to the last known head.
 */
export function chainStateOf(
  { params: declared, scope }: RelayedRow,
  params: readonly unknown[],
  heads: NetworkHeads,
): string | undefined {
  switch (scope.of) {
    case 'constant':
      return ANY;
    case 'block':
      return stateAt(params[scope.param], heads);
    case 'logs': {
      const { blockHash, toBlock } = params[0] as LogFilter; // validated by the parameter type
      return blockHash === undefined ? stateAt(toBlock, heads) : ANY;
    }
    case 'found':
    case 'moment':
    case 'head':
      // A request with a block hash has the same result on every fork.
      if (declared.some(({ isBlockHash }) => isBlockHash)) return ANY;
      return scope.of === 'found' ? headState(heads) : undefined;
  }
}

function stateAt(block: unknown, heads: NetworkHeads): string | undefined {
  if (block === 'pending') return undefined;
  // A block parameter that is an object contains the block hash (EIP-1898). A string is a block number or a tag.
  if (typeof block === 'object' && block !== null) return ANY;
  if (typeof block !== 'string' || isTag(block)) return headState(heads);
  const number = Number(block);
  if (number <= (heads.final ?? -1)) return ANY;
  // The hash of a block determines the hashes of all its ancestors, so it identifies the chain state.
  return heads.hashOf(number) ?? headState(heads);
}

/** Identifies the current head. Includes the safe and finalized blocks, which can change without a new head. */
const headState = ({ latest, safe, finalized }: NetworkHeads): string | undefined =>
  latest && `${latest.hash} ${safe} ${finalized}`;
