import {
  AnswerTooLargeError,
  type HistoryPage,
  type HistoryQuery,
  type HistoryReader,
  type JsonWriter,
  readHistory,
} from '../../../../traces/index.ts';
import type { AnswerWriter } from '../answerWriter.ts';

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
  const page = readHistory(reader, query, (segment, positions) => {
    const taken = answers.traces(segment, positions, { json, maxBytes });
    if (taken === 0 && json.textBytes === empty) throw new AnswerTooLargeError(maxBytes);
    return taken;
  });
  answers.finish(json);
  return page;
}
