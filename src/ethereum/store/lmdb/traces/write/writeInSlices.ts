import { JsonWriter, type StoredBlock, segmentOf, tracesOfBlock } from '../../../../traces/index.ts';
import type { TickScheduler } from '../tickScheduler.ts';
import type { TraceArrayWriter } from '../traceArrayWriter.ts';

/**
 * Number of traces that are written without a check of the time. They take about 1 ms, whether they are cached or
 * not.
 */
export const TRACES_PER_SLICE = 128;
/**
 * Time in one event loop tick after which the next slice waits for another tick. A slice of traces with large input
 * can take longer.
 */
const TICK_BUDGET_MS = 2;

/** Consecutive traces of a block, from trace index `first` to before `end`. */
export interface BlockRun {
  readonly block: StoredBlock;
  readonly first: number;
  readonly end: number;
}

/**
 * Writes consecutive traces of a block as a JSON array, over several event loop ticks if necessary. Returns undefined
 * if `isThere` reports that the block was replaced meanwhile. Throws AnswerTooLargeError above `maxBytes`.
 */
export async function writeInSlices(
  answers: TraceArrayWriter,
  { block, first, end }: BlockRun,
  limits: { readonly maxBytes: number; readonly turns: TickScheduler; readonly isThere: () => boolean },
): Promise<Buffer | undefined> {
  const json = new JsonWriter();
  const list = tracesOfBlock(block.number, block.traceCount);
  answers.begin(json);
  let turnEndMs = performance.now() + TICK_BUDGET_MS;
  for (let at = first; at < end; at += TRACES_PER_SLICE) {
    if (performance.now() >= turnEndMs) {
      await limits.turns.next();
      if (!limits.isThere()) return undefined;
      turnEndMs = performance.now() + TICK_BUDGET_MS;
    }
    const slice = { list, first: at, end: Math.min(end, at + TRACES_PER_SLICE) };
    answers.append(json, limits.maxBytes, (visitor) => visitor.run(segmentOf(block.number), slice));
  }
  answers.finish(json);
  return json.written();
}
