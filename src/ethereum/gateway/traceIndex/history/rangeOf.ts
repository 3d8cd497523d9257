import type { BlockBound } from '../traceFilter/blockTag.ts';
import { checkHead, type Heads, resolveBound } from '../traceFilter/fromIndex.ts';
import { checkOrder } from '../traceFilter/params.ts';

/** Returns the block range of a query as numbers. Without `from`, it starts at the lowest indexed block. */
export function rangeOf(
  { from, to }: { readonly from: BlockBound | undefined; readonly to: BlockBound },
  heads: Heads,
): { fromBlock?: number; toBlock: number } {
  const fromBlock = from === undefined ? undefined : resolveBound(heads, 'fromBlock', from);
  const toBlock = resolveBound(heads, 'toBlock', to);
  if (fromBlock !== undefined) checkHead(heads, 'fromBlock', fromBlock);
  checkHead(heads, 'toBlock', toBlock);
  if (fromBlock === undefined) return { toBlock };
  checkOrder(fromBlock, toBlock);
  return { fromBlock, toBlock };
}
