import { InvalidResponseError } from '../../nodes/index.ts';
import { isObject } from './kind.ts';
import { isTag } from './kinds.ts';
import type { RelayedRow } from './row.ts';

/**
 * Checks that receipts are those of one block, the one asked for, each at its place. Not the logs against their bloom filters: a
 * block has hundreds of receipts, and each would take a tenth of a millisecond.
 */
export const areReceiptsOfBlock: NonNullable<RelayedRow['check']> = ([block], value) => {
  const receipts = value as unknown as readonly unknown[]; // a list, as the row says
  const [first] = receipts;
  receipts.forEach((receipt, i) => {
    if (!isObject(receipt) || !isObject(first)) throw new InvalidResponseError('a receipt is no object');
    const { blockHash, blockNumber, transactionIndex } = receipt;
    if (Number(transactionIndex) !== i)
      throw new InvalidResponseError(`at place ${i} the receipt of transaction ${transactionIndex} came`);
    if (blockHash !== first['blockHash'] || blockNumber !== first['blockNumber'])
      throw new InvalidResponseError('receipts of two different blocks came');
  });
  if (!isObject(first) || isTag(block)) return;
  const [asked, got] = isObject(block)
    ? [block['blockHash'], String(first['blockHash']).toLowerCase()]
    : [Number(block), Number(first['blockNumber'])];
  if (asked !== got)
    throw new InvalidResponseError(`receipts of block ${asked} were asked for, those of ${got} came`);
};
