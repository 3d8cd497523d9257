import type { Trace } from '../../index.ts';
import type { ChainRules } from '../chains/chainRules.ts';
import { MAX_FRAMES } from '../frame.ts';
import { FrameReader } from '../frameReader.ts';
import type { ParseContext } from '../json/parseContext.ts';
import { listUpTo } from '../json/readJson.ts';
import { TraceFormatError } from '../json/traceFormatError.ts';
import type { FullBlock } from '../parseTransactions.ts';
import { resultsByTransaction, type TracedTransactions } from './gethResult.ts';
import { parityFrames } from './parityFrames.ts';

/**
 * Converts a result of geth's `flatCallTracer` to the canonical traces of a block's transactions. The request must
 * set `includePrecompiles: true`. Otherwise geth omits calls with value to precompiled contracts, which Parity lists.
 * The result has no rewards; `blockRewards` returns them. docs/reference/nodes.md lists the values that are exact.
 *
 * @param answer the parsed `result` of `debug_traceBlockByNumber` or `debug_traceBlockByHash`.
 * @throws TraceFormatError if the result is malformed, BlockMismatchError if it belongs to another block.
 */
export function fromFlatCallTracer(block: FullBlock, answer: unknown, rules: ChainRules): Trace[] {
  const reader = new FrameReader();
  const traced: TracedTransactions = { frames: [], transactions: [], gasUsed: [] };
  resultsByTransaction(block, answer, rules).forEach((result, index) => {
    const transaction = block.transactions[index];
    if (result === undefined || transaction === undefined) return;
    const first = traced.frames.length;
    readFrames(reader, traced.frames, { result, index });
    // Erigon lists no frames for a transaction of the network, unless an option asks for them.
    if (traced.frames.length === first && rules.systemTransaction?.matches(transaction) === true) return;
    if (traced.frames.length === first)
      throw new TraceFormatError({ what: 'transaction', index }, 'result', {
        expected: 'at least one frame',
        got: result,
      });
    traced.transactions.push(transaction);
    traced.gasUsed.push(gasUsedOf(traced.frames[first]));
  });
  return parityFrames(block, traced, rules);
}

/** Appends the frames of one transaction. */
function readFrames(
  reader: FrameReader,
  frames: Trace[],
  { result, index }: { readonly result: unknown; readonly index: number },
): void {
  const place: ParseContext = { what: 'transaction', index };
  for (const sent of listUpTo(MAX_FRAMES - frames.length)(result, place, 'result')) {
    const frame = reader.read(sent, frames.length);
    if (frame === undefined || frame.type === 'reward')
      throw new TraceFormatError({ what: 'frame', index: frames.length }, 'type', {
        expected: 'a frame',
        got: 'reward',
      });
    frames.push(frame);
  }
}

/** Returns the gas used in a root frame's result. Returns 0 without a result, because the gas is then not needed. */
function gasUsedOf(root: Trace | undefined): bigint {
  return root?.type === 'call' || root?.type === 'create' ? BigInt(root.result?.gasUsed ?? '0x0') : 0n;
}
