import type { Trace } from '../../index.ts';
import type { ChainRules } from '../chains/chainRules.ts';
import { BlockMismatchError } from '../check/blockMismatchError.ts';
import type { ParseContext } from '../json/parseContext.ts';
import { readHash } from '../json/readHex.ts';
import { asObject } from '../json/readJson.ts';
import { plain, TraceFormatError } from '../json/traceFormatError.ts';
import type { BlockTransaction, FullBlock } from '../parseTransactions.ts';

/** Maximum number of characters of a tracer's error that an error message quotes. */
const MAX_FAILURE_CHARS = 200;

/** The transactions of a block that have frames, as a tracer reports them. */
export interface TracedTransactions {
  /** Frames of the transactions in the order of the block, and of each transaction in pre-order. */
  readonly frames: Trace[];
  readonly transactions: BlockTransaction[];
  /** Total gas used by each of these transactions. */
  readonly gasUsed: bigint[];
}

/**
 * Returns the tracer's result for each transaction of a block. It is undefined if the network executed the
 * transaction and the node does not trace it.
 *
 * @param answer the parsed `result` of `debug_traceBlockByNumber` or `debug_traceBlockByHash`.
 * @throws BlockMismatchError if `answer` is for other transactions than those of the block.
 * @throws TraceFormatError if `answer` is malformed, or the node could not trace a transaction.
 */
export function resultsByTransaction(
  { header, transactions }: FullBlock,
  answer: unknown,
  { systemTransaction }: ChainRules,
): unknown[] {
  if (!Array.isArray(answer))
    throw new TraceFormatError({ what: 'debug_traceBlock', index: -1 }, '', {
      expected: 'an array of results',
      got: answer,
    });
  const last = transactions.at(-1);
  const lacksLast =
    answer.length === transactions.length - 1 &&
    last !== undefined &&
    systemTransaction?.matches(last) === true;
  if (answer.length !== transactions.length && !lacksLast) {
    const counts = `${answer.length} results for ${transactions.length} transactions`;
    throw new BlockMismatchError(header.number, counts);
  }
  return transactions.map((transaction, index) => {
    if (index === answer.length) return undefined;
    const place: ParseContext = { what: 'transaction', index };
    const element = asObject(answer[index], place, '');
    const error = element['error'];
    if (typeof error === 'string' && error !== '') {
      const failure = `traced without an error (the node failed with "${plain(error, MAX_FAILURE_CHARS)}")`;
      throw new TraceFormatError(place, '', { expected: failure, got: element });
    }
    // geth sends the transaction hash since version 1.11.
    const sentHash = element['txHash'];
    if (
      sentHash !== undefined &&
      sentHash !== null &&
      readHash(sentHash, place, 'txHash') !== transaction.hash
    )
      throw new BlockMismatchError(
        header.number,
        `result ${index} has transaction hash ${sentHash}, expected ${transaction.hash}`,
      );
    return element['result'] ?? null;
  });
}
