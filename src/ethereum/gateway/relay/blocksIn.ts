import type { MethodRow } from '../methods/row.ts';

/** A block that an answer says it is, or stands in. */
export interface BlockTold {
  readonly number: number;
  readonly hash: string;
}

/**
 * The blocks that an answer tells, by their numbers and hashes, where it is of the chain as it is now. None where the request
 * named a block by its hash: such an answer is right on whatever fork.
 */
export function blocksIn(
  { name }: MethodRow,
  params: readonly unknown[],
  value: unknown,
): Iterable<BlockTold> {
  switch (name) {
    case 'eth_getBlockByNumber':
      return told([value], 'number', 'hash');
    case 'eth_getTransactionByBlockNumberAndIndex':
    case 'eth_getTransactionByHash':
    case 'eth_getTransactionReceipt':
      return told([value], 'blockNumber', 'blockHash');
    case 'eth_getLogs': {
      const { blockHash } = params[0] as { readonly blockHash?: string }; // what the parameter's kind made
      return blockHash === undefined && Array.isArray(value) ? told(value, 'blockNumber', 'blockHash') : [];
    }
    default:
      return [];
  }
}

function* told(entries: readonly unknown[], numberMember: string, hashMember: string): Iterable<BlockTold> {
  for (const entry of entries) {
    if (typeof entry !== 'object' || entry === null) continue;
    const { [numberMember]: number, [hashMember]: hash } = entry as Readonly<Record<string, unknown>>; // a JSON object
    if (typeof number === 'string' && typeof hash === 'string')
      yield { number: Number(number), hash: hash.toLowerCase() };
  }
}
