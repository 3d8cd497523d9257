import type { Trace } from '../index.ts';
import type { ForkSchedule } from './forks.ts';
import { MAX_FRAMES } from './frame.ts';
import { FrameReader } from './frameReader.ts';
import { resultsByTransaction } from './gethAnswer.ts';
import { parityFrames } from './parityFrames.ts';
import type { FullBlock } from './parseTransactions.ts';
import type { Place } from './place.ts';
import { listUpTo } from './readJson.ts';
import { TraceFormatError } from './traceFormatError.ts';

/**
 * The canonical traces of a block's transactions from what geth's `flatCallTracer` gives for it, asked with
 * `includePrecompiles: true`: without, it leaves out calls of precompiled contracts that carry value, which Parity
 * shows. The rewards of mined blocks come from `blockRewards`. Which values are exact: docs/nodes.md.
 *
 * @param answer the `result` of `debug_traceBlockByNumber` or `debug_traceBlockByHash`, parsed.
 * @throws TraceFormatError where the answer is not the tracer's, BlockMismatchError where it is not for this block.
 */
export function fromFlatCallTracer(block: FullBlock, answer: unknown, schedule: ForkSchedule): Trace[] {
  const reader = new FrameReader();
  const frames: Trace[] = [];
  const gasUsed = resultsByTransaction(block, answer).map((result, index) => {
    const place: Place = { what: 'transaction', index };
    const list = listUpTo(MAX_FRAMES - frames.length)(result, place, 'result');
    if (list.length === 0)
      throw new TraceFormatError(place, 'result', { expected: 'at least one frame', got: result });
    const first = frames.length;
    for (const sent of list) {
      const frame = reader.read(sent, frames.length);
      if (frame === undefined || frame.type === 'reward')
        throw new TraceFormatError({ what: 'frame', index: frames.length }, 'type', {
          expected: 'a frame',
          got: 'reward',
        });
      frames.push(frame);
    }
    return gasUsedOf(frames[first]);
  });
  return parityFrames(block, { frames, gasUsed }, schedule);
}

/** What a transaction's root frame says that it used; nothing where it failed and has no result to correct. */
function gasUsedOf(root: Trace | undefined): bigint {
  return root?.type === 'call' || root?.type === 'create' ? BigInt(root.result?.gasUsed ?? '0x0') : 0n;
}
