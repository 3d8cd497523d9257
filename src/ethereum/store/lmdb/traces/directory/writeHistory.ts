import {
  AnswerTooLargeError,
  type HistoryPage,
  type HistoryQuery,
  type HistoryReader,
  type JsonWriter,
  type Merged,
  readHistory,
} from '../../../../traces/index.ts';
import type { AnswerWriter } from '../answerWriter.ts';

/** Traces that are written before it is looked at how much room is left. */
const TRACES_PER_LOOK = 16;

/**
 * Writes a page of a history as a JSON array behind what stands in `json`. It ends early where `maxBytes` are reached; throws
 * AnswerTooLargeError where a single trace is larger.
 */
export function writeHistory(
  { reader, answers }: { readonly reader: HistoryReader; readonly answers: AnswerWriter },
  query: HistoryQuery,
  { json, maxBytes }: { readonly json: JsonWriter; readonly maxBytes: number },
): HistoryPage {
  answers.open(json);
  const empty = json.textBytes;
  const page = readHistory(reader, query, (segment, merged) => {
    let taken = 0;
    let atOnce = TRACES_PER_LOOK;
    while (taken < merged.positions.length) {
      const end = Math.min(merged.positions.length, taken + atOnce);
      const before = json.length;
      try {
        answers.goOn(json, maxBytes, (visitor) => visitor.merged(segment, part(merged, taken, end)));
        taken = end;
      } catch (error) {
        if (!(error instanceof AnswerTooLargeError)) throw error;
        json.length = before;
        if (atOnce === 1 && json.textBytes === empty) throw error;
        if (atOnce === 1) break;
        atOnce = 1;
      }
    }
    return taken;
  });
  answers.finish(json);
  return page;
}

const part = ({ lists, positions, listIndexes, indexes }: Merged, first: number, end: number): Merged => ({
  lists,
  positions: positions.slice(first, end),
  listIndexes: listIndexes.slice(first, end),
  indexes: indexes.slice(first, end),
});
