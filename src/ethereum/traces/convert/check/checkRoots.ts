import type { Trace } from '../../index.ts';
import type { ChainRules } from '../chains/chainRules.ts';
import type { TracedTransactions } from '../geth/gethResult.ts';
import type { BlockTransaction } from '../parseTransactions.ts';
import { BlockMismatchError } from './blockMismatchError.ts';

/**
 * Checks that the root frame of each transaction matches the transaction. geth before 1.11 returns results without
 * transaction hashes. If two results were in the wrong order, each would be stored with the hash of the other.
 *
 * @throws BlockMismatchError naming the first member that differs.
 */
export function checkRoots(
  blockNumber: number,
  { frames, transactions }: Pick<TracedTransactions, 'frames' | 'transactions'>,
  rules: ChainRules,
): void {
  let position = 0;
  for (const frame of frames) {
    if (frame.traceAddress.length > 0) continue;
    const transaction = transactions[position];
    if (transaction === undefined) return; // checkBlock reports surplus root frames
    const difference = differenceOf(frame, expectedRoot(transaction, rules));
    if (difference !== undefined)
      throw new BlockMismatchError(
        blockNumber,
        `the root frame of transaction ${frame.transactionPosition} (${transaction.hash}) has a different ${difference}`,
      );
    position++;
  }
}

type Root = Pick<BlockTransaction, 'from' | 'to' | 'value' | 'input'>;

function expectedRoot(transaction: BlockTransaction, { systemTransaction }: ChainRules): Root {
  if (systemTransaction?.matches(transaction) !== true) return transaction;
  return { ...transaction, ...systemTransaction.root };
}

function differenceOf(root: Trace, { from, to, value, input }: Root): string | undefined {
  if (root.type === 'call') {
    const { action } = root;
    if (to === null || action.callType !== 'call') return 'type';
    return firstDifference([
      ['from', action.from, from],
      ['to', action.to, to],
      ['value', action.value, value],
      ['input', action.input, input],
    ]);
  }
  if (root.type !== 'create' || to !== null) return 'type';
  return firstDifference([
    ['from', root.action.from, from],
    ['value', root.action.value, value],
    ['input', root.action.init, input],
  ]);
}

function firstDifference(
  members: readonly (readonly [name: string, is: string, shall: string])[],
): string | undefined {
  for (const [name, is, shall] of members) if (is !== shall) return name;
  return undefined;
}
