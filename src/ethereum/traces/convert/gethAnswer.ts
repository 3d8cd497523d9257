import { BlockMismatchError } from './blockMismatchError.ts';
import type { FullBlock } from './parseTransactions.ts';
import type { Place } from './place.ts';
import { readHash } from './readHex.ts';
import { asObject } from './readJson.ts';
import { plain, TraceFormatError } from './traceFormatError.ts';

/** Longest text of a tracer's failure that is passed on, in characters. */
const MAX_FAILURE_CHARS = 200;

/**
 * The tracer's result for each transaction, from an answer to `debug_traceBlockByNumber` or `debug_traceBlockByHash`.
 *
 * @throws BlockMismatchError where the answer is for other transactions than the block has.
 * @throws TraceFormatError where it is not such an answer, or tracing a transaction failed.
 */
export function resultsByTransaction({ header, transactions }: FullBlock, answer: unknown): unknown[] {
  if (!Array.isArray(answer))
    throw new TraceFormatError({ what: 'debug_traceBlock', index: -1 }, '', {
      expected: 'an array of results',
      got: answer,
    });
  if (answer.length !== transactions.length) {
    const counts = `${answer.length} results for ${transactions.length} transactions`;
    throw new BlockMismatchError(header.number, counts);
  }
  return transactions.map((transaction, index) => {
    const place: Place = { what: 'transaction', index };
    const element = asObject(answer[index], place, '');
    const error = element['error'];
    if (typeof error === 'string' && error !== '') {
      const failure = `traceable, and the node failed with "${plain(error, MAX_FAILURE_CHARS)}"`;
      throw new TraceFormatError(place, '', { expected: failure, got: element });
    }
    // geth names the transaction since 1.11.
    const sentHash = element['txHash'];
    if (
      sentHash !== undefined &&
      sentHash !== null &&
      readHash(sentHash, place, 'txHash') !== transaction.hash
    )
      throw new BlockMismatchError(header.number, `result ${index} is of transaction ${sentHash}`);
    return element['result'];
  });
}
