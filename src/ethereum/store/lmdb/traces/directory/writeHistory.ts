import {
  AnswerTooLargeError,
  type HistoryPage,
  type HistoryQuery,
  type HistoryReader,
  type JsonWriter,
  readHistory,
} from '../../../../traces/index.ts';
import type { TraceArrayWriter } from '../traceArrayWriter.ts';

/**
 * Appends one page of an address history to `json` as an array. Throws AnswerTooLargeError if the first trace of the
 * page does not fit into `maxBytes`.
 */
export function writeHistory(
  { reader, answers }: { readonly reader: HistoryReader; readonly answers: TraceArrayWriter },
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
