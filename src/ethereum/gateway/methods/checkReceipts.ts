import { InvalidResponseError } from '../../nodes/index.ts';
import { isObject } from './paramType.ts';
import { isTag } from './paramTypes.ts';
import type { RelayedRow } from './row.ts';

/**
 * Checks that receipts belong to the requested block and are in order. Does not compare their logs with their logs
 * blooms, because this takes 0.1 ms per receipt, and a block has hundreds of receipts.
 */
export const areReceiptsOfBlock: NonNullable<RelayedRow['check']> = ([block], value) => {
  const receipts = value as unknown as readonly unknown[]; // the result was checked to be a list
  const [first] = receipts;
  receipts.forEach((receipt, i) => {
    if (!isObject(receipt) || !isObject(first)) throw new InvalidResponseError('a receipt is not an object');
    const { blockHash, blockNumber, transactionIndex } = receipt;
    if (Number(transactionIndex) !== i)
      throw new InvalidResponseError(`receipt ${i} is of transaction ${transactionIndex}`);
    if (blockHash !== first['blockHash'] || blockNumber !== first['blockNumber'])
      throw new InvalidResponseError('receipts of two different blocks');
  });
  if (!isObject(first) || isTag(block)) return;
  const [asked, got] = isObject(block)
    ? [block['blockHash'], String(first['blockHash']).toLowerCase()]
    : [Number(block), Number(first['blockNumber'])];
  if (asked !== got) throw new InvalidResponseError(`expected receipts of block ${asked}, got block ${got}`);
};
