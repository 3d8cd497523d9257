import type { BlockHeader, Trace } from '../index.ts';
import { BlockMismatchError } from './blockMismatchError.ts';
import { CallTreeCheck } from './callTreeCheck.ts';

/**
 * Checks that these are the traces of this block, all of them, in their order: every trace names the block; every
 * transaction of the header's list is there once and has its frames, in place; each transaction's frames make a complete tree;
 * the rewards stand at the end, the block's before those of its uncles. The genesis block has no traces.
 *
 * It holds every transaction to have a root frame. So it refuses blocks of chains that list transactions which their
 * nodes do not trace (docs/nodes.md).
 *
 * @throws BlockMismatchError with the first thing that does not fit.
 */
export function checkBlock(header: BlockHeader, traces: readonly Trace[]): void {
  const fail = (reason: string) => new BlockMismatchError(header.number, reason);
  if (new Set(header.transactionHashes).size < header.transactionHashes.length)
    throw fail('it lists a transaction twice');
  const tree = new CallTreeCheck(fail);
  let transactions = 0;
  let rewarded = false;
  for (let i = 0; i < traces.length; i++) {
    const trace = traces[i];
    if (trace === undefined) throw fail(`trace ${i} is missing`);
    if (trace.blockHash !== header.hash)
      throw fail(`trace ${i} is of block hash ${trace.blockHash}, the header's is ${header.hash}`);
    if (trace.blockNumber !== header.number) throw fail(`trace ${i} is of block ${trace.blockNumber}`);
    if (trace.type === 'reward') {
      if (rewarded && trace.action.rewardType === 'block')
        throw fail(`trace ${i} is a block reward after another reward`);
      rewarded = true;
      continue;
    }
    if (rewarded) throw fail(`trace ${i} is a frame after a reward`);
    if (trace.traceAddress.length === 0) transactions++;
    if (transactions === 0) throw fail('the first trace is not the root frame of a transaction');
    const position = transactions - 1;
    const hash = header.transactionHashes[position];
    if (hash === undefined)
      throw fail(
        `trace ${i} belongs to transaction ${position}, the block has ${header.transactionHashes.length}`,
      );
    if (trace.transactionPosition !== position)
      throw fail(`trace ${i} is of transaction ${trace.transactionPosition}, expected one of ${position}`);
    if (trace.transactionHash !== hash)
      throw fail(
        `trace ${i} is of transaction hash ${trace.transactionHash}, number ${position} in the block is ${hash}`,
      );
    tree.next(trace, i);
  }
  tree.end();
  if (transactions < header.transactionHashes.length)
    throw fail(`only ${transactions} of ${header.transactionHashes.length} transactions have traces`);
  if (header.number === 0 && traces.length > 0) throw fail('the genesis block has no traces');
}
