import { RpcError } from '../../jsonrpc/index.ts';
import type { CallLimits } from '../callLimits.ts';
import type { LogFilter } from './logFilter.ts';
import { isTag } from './paramTypes.ts';

export const logsLimitText = ({ logsBlocks }: CallLimits): string =>
  `at most ${logsBlocks} blocks, both ends counted`;

/** Throws RpcError if the block range of a canonical filter is reversed or too wide. Ignores ranges with a tag. */
export function checkLogRange(filter: unknown, maxBlocks: number): void {
  const { fromBlock, toBlock } = filter as LogFilter; // validated by the parameter type
  if (fromBlock === undefined || toBlock === undefined || isTag(fromBlock) || isTag(toBlock)) return;
  const blocks = Number(toBlock) - Number(fromBlock) + 1;
  if (blocks < 1)
    throw new RpcError('invalidParams', `fromBlock ${Number(fromBlock)} is after toBlock ${Number(toBlock)}`);
  if (blocks > maxBlocks) throw tooWide(Number(fromBlock), blocks, maxBlocks);
}

/** Libraries find `Max range: …` and `Try with this block range …` in the message, and split the range accordingly. */
function tooWide(fromBlock: number, requested: number, maxBlocks: number): RpcError {
  const last = fromBlock + maxBlocks - 1;
  const range = `[0x${fromBlock.toString(16)}, 0x${last.toString(16)}]`;
  const message = `eth_getLogs: ${requested} blocks requested. Max range: ${maxBlocks}. Try with this block range ${range}`;
  return new RpcError('limitExceeded', message, { limit: maxBlocks, requested });
}
