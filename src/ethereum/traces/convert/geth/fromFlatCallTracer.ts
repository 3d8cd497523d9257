import type { Trace } from '../../index.ts';
import type { ForkSchedule } from '../forks.ts';
import { MAX_FRAMES } from '../frame.ts';
import { FrameReader } from '../frameReader.ts';
import type { ParseContext } from '../json/parseContext.ts';
import { listUpTo } from '../json/readJson.ts';
import { TraceFormatError } from '../json/traceFormatError.ts';
import type { FullBlock } from '../parseTransactions.ts';
import { resultsByTransaction } from './gethResult.ts';
import { parityFrames } from './parityFrames.ts';

/**
 * Converts a result of geth's `flatCallTracer` to the canonical traces of a block's transactions. The request must
 * set `includePrecompiles: true`. Otherwise geth omits calls with value to precompiled contracts, which Parity lists.
 * The result has no rewards; `blockRewards` returns them. docs/reference/nodes.md lists the values that are exact.
 *
 * @param answer the parsed `result` of `debug_traceBlockByNumber` or `debug_traceBlockByHash`.
 * @throws TraceFormatError if the result is malformed, BlockMismatchError if it belongs to another block.
 */
export function fromFlatCallTracer(block: FullBlock, answer: unknown, schedule: ForkSchedule): Trace[] {
  const reader = new FrameReader();
  const frames: Trace[] = [];
  const gasUsed = resultsByTransaction(block, answer).map((result, index) => {
    const place: ParseContext = { what: 'transaction', index };
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

/** Returns the gas used in a root frame's result. Returns 0 without a result, because the gas is then not needed. */
function gasUsedOf(root: Trace | undefined): bigint {
  return root?.type === 'call' || root?.type === 'create' ? BigInt(root.result?.gasUsed ?? '0x0') : 0n;
}
