import { AnswerTooLargeError, type TraceFilter, type TraceReader } from '../../ethereum/traces/index.ts';

const MAX_PAGE_TRACES = 4_096;
/** Maximum bytes of a page. The JSON of a whole block could exceed the maximum length of a string. */
const MAX_PAGE_BYTES = 64 * 1024 * 1024;

const NO_TRACES = Buffer.from('[]');

/**
 * Yields all traces that match a filter, in order, as JSON arrays of bounded size. A single trace may exceed the
 * bound. Yields one empty array if no trace matches or if a block was removed while it was read.
 */
export async function* filterPages(
  store: TraceReader,
  filter: Omit<TraceFilter, 'after' | 'count'>,
): AsyncGenerator<Buffer> {
  let count = MAX_PAGE_TRACES;
  for (let after = 0; ; ) {
    const maxBytes = count === 1 ? Number.POSITIVE_INFINITY : MAX_PAGE_BYTES;
    try {
      const page = await store.filter({ ...filter, after, count }, maxBytes);
      if (page === undefined) return yield NO_TRACES;
      const isEmpty = page.length === NO_TRACES.length;
      if (isEmpty && after > 0) return;
      yield Buffer.from(page.buffer, page.byteOffset, page.length);
      if (isEmpty) return;
      after += count;
    } catch (error) {
      if (!(error instanceof AnswerTooLargeError)) throw error;
      count = Math.ceil(count / 2);
    }
  }
}
