import type { Trace } from '../index.ts';
import { CallFrameReader } from './callFrameReader.ts';
import type { ForkSchedule } from './forks.ts';
import { resultsByTransaction } from './gethAnswer.ts';
import { parityFrames } from './parityFrames.ts';
import type { FullBlock } from './parseTransactions.ts';

/**
 * The canonical traces of a block's transactions from what geth's `callTracer` gives for it; the rewards of mined
 * blocks come from `blockRewards`. Which values are exact: docs/nodes.md.
 *
 * @param answer the `result` of `debug_traceBlockByNumber` or `debug_traceBlockByHash`, parsed.
 * @throws TraceFormatError where the answer is not the tracer's, BlockMismatchError where it is not for this block.
 */
export function fromCallTracer(block: FullBlock, answer: unknown, schedule: ForkSchedule): Trace[] {
  const frames: Trace[] = [];
  const gasUsed = resultsByTransaction(block, answer).map((root, position) =>
    new CallFrameReader(block, position, frames).read(root),
  );
  return parityFrames(block, { frames, gasUsed: ofEach(gasUsed, block.header.gasUsed) }, schedule);
}

/**
 * What each transaction used. anvil (1.7) says at each what the block had used up to and with it: told by the last one
 * saying the block's total, where the sum would be more.
 */
function ofEach(reported: readonly bigint[], blockGasUsed: bigint): readonly bigint[] {
  const sum = reported.reduce((total, gas) => total + gas, 0n);
  const isRunningTotal = sum > blockGasUsed && reported.at(-1) === blockGasUsed;
  return isRunningTotal ? reported.map((total, i) => total - (reported[i - 1] ?? 0n)) : reported;
}
