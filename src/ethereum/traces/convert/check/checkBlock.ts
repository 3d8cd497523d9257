import type { BlockHeader, Hash, Trace } from '../../index.ts';
import { BlockMismatchError } from './blockMismatchError.ts';
import { CallTreeCheck } from './callTreeCheck.ts';

/** Positions of the transactions for which a node may list no frames, by the rules of the chain. */
export type MayLackFrames = ReadonlySet<number>;

/**
 * Checks that `traces` are all traces of the block, in order. Every trace must contain the block's hash and number.
 * Each transaction of the header must occur once, in order, with a complete call tree; those in `mayLackFrames` may be
 * missing. Rewards must be last, the block reward before the rewards of uncles. The genesis block has no traces.
 *
 * @throws BlockMismatchError for the first mismatch.
 */
export function checkBlock(
  header: BlockHeader,
  traces: readonly Trace[],
  mayLackFrames: MayLackFrames = new Set(),
): void {
  const fail = (reason: string) => new BlockMismatchError(header.number, reason);
  if (new Set(header.transactionHashes).size < header.transactionHashes.length)
    throw fail('the block lists a transaction twice');
  const tree = new CallTreeCheck(fail);
  let position = -1;
  let rewarded = false;
  /** Skips transactions that lack frames, up to the one with this hash. */
  const skipTo = (hash: Hash | null): void => {
    while (mayLackFrames.has(position) && header.transactionHashes[position] !== hash) position++;
  };
  for (let i = 0; i < traces.length; i++) {
    const trace = traces[i];
    if (trace === undefined) throw fail(`trace ${i} is missing`);
    if (trace.blockHash !== header.hash)
      throw fail(`trace ${i} has block hash ${trace.blockHash}, expected ${header.hash}`);
    if (trace.blockNumber !== header.number) throw fail(`trace ${i} has block number ${trace.blockNumber}`);
    if (trace.type === 'reward') {
      if (rewarded && trace.action.rewardType === 'block')
        throw fail(`trace ${i} is a block reward after another reward`);
      rewarded = true;
      continue;
    }
    if (rewarded) throw fail(`trace ${i} is a frame after a reward`);
    if (trace.traceAddress.length === 0) {
      position++;
      skipTo(trace.transactionHash);
    }
    if (position < 0) throw fail('the first trace is not the root frame of a transaction');
    const hash = header.transactionHashes[position];
    if (hash === undefined)
      throw fail(
        `trace ${i} belongs to transaction ${position}, the block has ${header.transactionHashes.length}`,
      );
    if (trace.transactionPosition !== position)
      throw fail(`trace ${i} has transaction position ${trace.transactionPosition}, expected ${position}`);
    if (trace.transactionHash !== hash)
      throw fail(
        `trace ${i} has transaction hash ${trace.transactionHash}, expected ${hash} at position ${position}`,
      );
    tree.next(trace, i);
  }
  tree.end();
  position++;
  skipTo(null);
  if (position < header.transactionHashes.length)
    throw fail(`transaction ${position} of ${header.transactionHashes.length} has no traces`);
  if (header.number === 0 && traces.length > 0) throw fail('the genesis block has no traces');
}
