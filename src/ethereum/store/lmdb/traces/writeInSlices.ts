import { JsonWriter, type StoredBlock, segmentOf, tracesOfBlock } from '../../../traces/index.ts';
import type { AnswerWriter } from './answerWriter.ts';
import type { Turns } from './turns.ts';

/** So many traces hold the thread for about a millisecond, whether they were read before or not. */
export const TRACES_PER_SLICE = 128;
/** Traces with much input take longer; after so long no further slice is begun in one turn of the event loop. */
const TURN_MS = 2;

/** Traces `first` to `end` of a block. */
export interface BlockRun {
  readonly block: StoredBlock;
  readonly first: number;
  readonly end: number;
}

/**
 * The traces of a run as a JSON array, written in slices, between which others have their turn. `isThere` looks after each
 * turn whether the block is still the one of the chain; undefined where it is not. Throws AnswerTooLargeError past `maxBytes`.
 */
export async function writeInSlices(
  answers: AnswerWriter,
  { block, first, end }: BlockRun,
  limits: { readonly maxBytes: number; readonly turns: Turns; readonly isThere: () => boolean },
): Promise<Buffer | undefined> {
  const json = new JsonWriter();
  const list = tracesOfBlock(block.number, block.traceCount);
  answers.begin(json);
  let turnEndMs = performance.now() + TURN_MS;
  for (let at = first; at < end; at += TRACES_PER_SLICE) {
    if (performance.now() >= turnEndMs) {
      await limits.turns.next();
      if (!limits.isThere()) return undefined;
      turnEndMs = performance.now() + TURN_MS;
    }
    const slice = { list, first: at, end: Math.min(end, at + TRACES_PER_SLICE) };
    answers.goOn(json, limits.maxBytes, (visitor) => visitor.run(segmentOf(block.number), slice));
  }
  answers.finish(json);
  return json.written();
}
