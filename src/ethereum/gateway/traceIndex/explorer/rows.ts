import { RateLimitedError, RPC_ERRORS, type RpcError } from '../../../jsonrpc/index.ts';
import type { BlockRange, HistoryFrame } from '../../../traces/index.ts';

/** Returns an internal transaction in Etherscan format, with Blockscout's extra members. All values are strings. */
function rowOf(transaction: HistoryFrame): object {
  const { type, gas, gasUsed, error, hasFailed } = transaction;
  return {
    blockNumber: String(transaction.blockNumber),
    timeStamp: String(transaction.timestamp),
    hash: transaction.transactionHash,
    transactionHash: transaction.transactionHash,
    from: transaction.from,
    to: transaction.to ?? '',
    value: String(transaction.value),
    contractAddress: transaction.created ?? '',
    input: '',
    type,
    callType: type === 'call' ? 'call' : '',
    gas: String(gas ?? 0n),
    // A frame that failed without a result has used all of its gas.
    gasUsed: String(gasUsed ?? gas ?? 0n),
    traceId: traceIdOf(transaction.traceAddress),
    isError: hasFailed ? '1' : '0',
    errCode: error ?? (hasFailed ? UNDONE : ''),
  };
}

/** Error text for a frame that succeeded, but whose effects were reverted when its caller failed. */
const UNDONE = 'Reverted by its caller';

/** Trace id in Etherscan format: `0` for the root frame, then the position of each child, counted from 1. */
const traceIdOf = (traceAddress: readonly number[]): string =>
  ['0', ...traceAddress.map((index) => String(index + 1))].join('_');

/** Returns a response in Etherscan format. If blocks are missing, its status is 2, as in Blockscout. */
export function answerOf(transactions: readonly HistoryFrame[], missing: readonly BlockRange[]): object {
  const result = transactions.map(rowOf);
  if (missing.length > 0)
    return {
      status: '2',
      message: 'Some internal transactions within this block range have not yet been processed',
      result,
      missing: missing.map(({ fromBlock, toBlock }) => [fromBlock, toBlock]),
    };
  if (result.length === 0) return { status: '0', message: 'No transactions found', result };
  return { status: '1', message: 'OK', result };
}

/** Text at the start of an error message, by error code. Clients of block explorers test for these words. */
const KNOWN_WORDS: Readonly<Record<number, string>> = {
  [RPC_ERRORS.unauthorized.code]: 'Invalid API Key',
};

export function explorerError(error: RpcError): string {
  const { code, message } = error;
  const words = error instanceof RateLimitedError ? 'Max rate limit reached' : KNOWN_WORDS[code];
  return JSON.stringify({
    status: '0',
    message: 'NOTOK',
    result: words === undefined ? message : `${words}: ${message}`,
  });
}
