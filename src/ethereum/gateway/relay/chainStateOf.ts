import type { NetworkHeads } from '../../nodes/index.ts';
import { isTag } from '../methods/kinds.ts';
import type { LogFilter } from '../methods/logFilter.ts';
import type { RelayedRow } from '../methods/row.ts';

/** Of what does not depend on where the chain is. */
const ANY = 'any';

/**
 * The state of the chain that the answer to a request is of: two requests with the same parameters and the same state are
 * answered alike. Undefined where that cannot be told. Tags are taken to be of the head as it was last heard of.
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
      const { blockHash, toBlock } = params[0] as LogFilter; // what the parameter's kind made
      return blockHash === undefined ? stateAt(toBlock, heads) : ANY;
    }
    case 'found':
    case 'moment':
    case 'head':
      // A block's hash says which chain it is of.
      if (declared.some(({ isBlockHash }) => isBlockHash)) return ANY;
      return scope.of === 'found' ? headState(heads) : undefined;
  }
}

function stateAt(block: unknown, heads: NetworkHeads): string | undefined {
  if (block === 'pending') return undefined;
  // What is no number and no tag names its block by the hash (EIP-1898).
  if (typeof block === 'object' && block !== null) return ANY;
  if (typeof block !== 'string' || isTag(block)) return headState(heads);
  const number = Number(block);
  if (number <= (heads.final ?? -1)) return ANY;
  // A block's hash is of all blocks before it, too.
  return heads.hashOf(number) ?? headState(heads);
}

/** The safe and the final block may move while the head stays. */
const headState = ({ latest, safe, finalized }: NetworkHeads): string | undefined =>
  latest && `${latest.hash} ${safe} ${finalized}`;
