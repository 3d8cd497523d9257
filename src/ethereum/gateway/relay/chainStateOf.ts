import type { NetworkHeads } from '../../nodes/index.ts';
import type { LogFilter } from '../methods/logFilter.ts';
import { isTag } from '../methods/paramTypes.ts';
import type { RelayedRow } from '../methods/row.ts';

/** Chain state of results that are the same on every fork. */
const ANY = 'any';

/**
 * Identifies the chain state that a result depends on. Requests with equal parameters and equal identifier have equal
 * results. Undefined if the state is unknown. Block tags refer to the last known head.
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
  // An object names the block by its hash (EIP-1898). Otherwise the value is a number or a tag.
  if (typeof block === 'object' && block !== null) return ANY;
  if (typeof block !== 'string' || isTag(block)) return headState(heads);
  const number = Number(block);
  if (number <= (heads.final ?? -1)) return ANY;
  // The hash of a block determines the hashes of all its ancestors, so it identifies the chain state.
  return heads.hashOf(number) ?? headState(heads);
}

/** Identifies the current head. Includes the safe and the finalized block, which may advance while the head stays. */
const headState = ({ latest, safe, finalized }: NetworkHeads): string | undefined =>
  latest && `${latest.hash} ${safe} ${finalized}`;
