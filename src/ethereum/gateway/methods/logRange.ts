import { RpcError } from '../../jsonrpc/index.ts';
import type { LogFilter } from './logFilter.ts';
import { isTag } from './paramTypes.ts';

/** Maximum number of blocks in the range of eth_getLogs, first and last block included (docs/internals/decisions/gateway.md). */
export const MAX_LOG_BLOCKS = 800;

/** Throws RpcError if the block range of a canonical filter is reversed or too wide. Ignores ranges with a tag. */
export function checkLogRange(filter: unknown): void {
  const { fromBlock, toBlock } = filter as LogFilter; // validated by the parameter type
  if (fromBlock === undefined || toBlock === undefined || isTag(fromBlock) || isTag(toBlock)) return;
  const blocks = Number(toBlock) - Number(fromBlock) + 1;
  if (blocks < 1)
    throw new RpcError('invalidParams', `fromBlock ${Number(fromBlock)} is after toBlock ${Number(toBlock)}`);
  if (blocks > MAX_LOG_BLOCKS) throw tooWide(Number(fromBlock), blocks);
}

/** Libraries find `Max range: …` and `Try with this block range …` in the message, and split the range accordingly. */
function tooWide(fromBlock: number, requested: number): RpcError {
  const last = fromBlock + MAX_LOG_BLOCKS - 1;
  const range = `[0x${fromBlock.toString(16)}, 0x${last.toString(16)}]`;
  const message = `eth_getLogs: ${requested} blocks requested. Max range: ${MAX_LOG_BLOCKS}. Try with this block range ${range}`;
  return new RpcError('limitExceeded', message, { limit: MAX_LOG_BLOCKS, requested });
}
