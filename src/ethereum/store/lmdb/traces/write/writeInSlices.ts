import { setImmediate as afterPolling } from 'node:timers/promises';
import {
  JsonWriter,
  type NextTurn,
  type StoredBlock,
  segmentOf,
  tracesOfBlock,
} from '../../../../traces/index.ts';
import type { TraceArrayWriter } from '../traceArrayWriter.ts';

/**
 * Number of traces that are written without a check of the time. They take about 1 ms, whether they are cached or
 * not.
 */
export const TRACES_PER_SLICE = 128;
/** Time of a turn, after which the next slice waits for another turn. A slice of traces with large input can take longer. */
const TURN_MS = 2;

/** Consecutive traces of a block, from trace index `first` to before `end`. */
export interface BlockRun {
  readonly block: StoredBlock;
  readonly first: number;
  readonly end: number;
}

interface SliceLimits {
  readonly maxBytes: number;
  readonly nextTurn?: NextTurn | undefined;
  /** Whether the index still has the block. */
  readonly isThere: () => boolean;
}

/**
 * Writes consecutive traces of a block as a JSON array, in several turns if necessary. Returns undefined
 * if `isThere` reports that the block was replaced meanwhile. Throws AnswerTooLargeError above `maxBytes`.
 */
export async function writeInSlices(
  answers: TraceArrayWriter,
  { block, first, end }: BlockRun,
  { maxBytes, nextTurn = afterPolling, isThere }: SliceLimits,
): Promise<Buffer | undefined> {
  const json = new JsonWriter();
  const list = tracesOfBlock(block.number, block.traceCount);
  answers.begin(json);
  let turnEndMs = performance.now() + TURN_MS;
  for (let at = first; at < end; at += TRACES_PER_SLICE) {
    if (performance.now() >= turnEndMs) {
      await nextTurn();
      if (!isThere()) return undefined;
      turnEndMs = performance.now() + TURN_MS;
    }
    const slice = { list, first: at, end: Math.min(end, at + TRACES_PER_SLICE) };
    answers.append(json, maxBytes, (visitor) => visitor.run(segmentOf(block.number), slice));
  }
  answers.finish(json);
  return json.written();
}
