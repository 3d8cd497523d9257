import { overLimit, RpcError } from '../../jsonrpc/index.ts';
import { isTag } from './kinds.ts';
import type { LogFilter } from './logFilter.ts';

/** Blocks of an eth_getLogs, both ends counted (docs/decisions/gateway.md). */
export const MAX_LOG_BLOCKS = 800;

/** Refuses a range that is reversed or too wide, as far as its bounds are numbers. `filter` is a canonical one. */
export function checkLogRange(filter: unknown): void {
  const { fromBlock, toBlock } = filter as LogFilter; // what the parameter's kind made
  if (fromBlock === undefined || toBlock === undefined || isTag(fromBlock) || isTag(toBlock)) return;
  const blocks = Number(toBlock) - Number(fromBlock) + 1;
  if (blocks < 1)
    throw new RpcError(
      'invalidParams',
      `fromBlock ${Number(fromBlock)} is after toBlock ${Number(toBlock)}; it must not be`,
    );
  if (blocks > MAX_LOG_BLOCKS) throw overLimit('blocks from fromBlock to toBlock', MAX_LOG_BLOCKS, blocks);
}
