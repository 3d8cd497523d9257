import { RateLimitedError, RPC_ERRORS, type RpcError } from '../../jsonrpc/index.ts';
import type { BlockRange, InternalTransaction } from '../../traces/index.ts';

/** One internal transaction as explorers tell it, every member a text: Etherscan's members, and what Blockscout has besides. */
function rowOf(transaction: InternalTransaction): object {
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
    // A frame that failed without a result has used up all of its gas.
    gasUsed: String(gasUsed ?? gas ?? 0n),
    traceId: traceIdOf(transaction.traceAddress),
    isError: hasFailed ? '1' : '0',
    errCode: error ?? (hasFailed ? UNDONE : ''),
  };
}

/** The error of a frame that says of none, and was undone with the one that it stands in. */
const UNDONE = 'Reverted by its caller';

/** The root is `0`; each step down is the number of the frame among its caller's, from 1. */
const traceIdOf = (traceAddress: readonly number[]): string =>
  ['0', ...traceAddress.map((index) => String(index + 1))].join('_');

/** A whole answer: Blockscout's status 2 where blocks of the range are not in the index, so that nobody takes it for all there is. */
export function answerOf(
  transactions: readonly InternalTransaction[],
  missing: readonly BlockRange[],
): object {
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

/** The words by which clients of explorers tell errors, by code. */
const KNOWN_WORDS: Readonly<Record<number, string>> = {
  [RPC_ERRORS.unauthorized.code]: 'Invalid API Key',
};

/** An error in the form of explorers. */
export function explorerError(error: RpcError): string {
  const { code, message } = error;
  const words = error instanceof RateLimitedError ? 'Max rate limit reached' : KNOWN_WORDS[code];
  return JSON.stringify({
    status: '0',
    message: 'NOTOK',
    result: words === undefined ? message : `${words}: ${message}`,
  });
}
