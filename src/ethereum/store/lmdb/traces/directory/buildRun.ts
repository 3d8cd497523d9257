import { BLOCKS_PER_SEGMENT, blockAt, traceIndexAt, typeIn, WorkLeft } from '../../../../traces/index.ts';
import { postingKey, SIDE_AND_TERM_AT } from '../keys.ts';
import { positionsIn, wordsOf } from '../postingPages.ts';
import { LmdbHistoryReader } from './historyReader.ts';
import { ADDRESS_BYTES, COLUMNS, columnOf, type Entry, encodePart } from './run.ts';
import { RunWriter } from './runWriter.ts';
import { type DirectoryWork, inSteps, STEP_MS } from './work.ts';

/** Lists that are read before the clock is looked at. */
const LISTS_PER_LOOK = 200;

const FIRST_TERM = `0x${'0'.repeat(2 * ADDRESS_BYTES)}`;

/** Makes the run of one segment out of its posting lists. Given up where its blocks change meanwhile. */
export async function buildRun(work: DirectoryWork, segment: number): Promise<void> {
  const before = work.changesOf(segment);
  const isCurrent = (): boolean => work.changesOf(segment) === before;
  const counts = await countTraces(work, segment, isCurrent);
  if (counts === undefined) return;
  const entries: Entry[] = [];
  for (const [address, columns] of counts)
    entries.push({ address: Buffer.from(address, 'latin1'), parts: encodePart(segment, columns) });
  await new RunWriter(work, { level: 0, run: segment }, isCurrent).writeAll(entries);
}

type Counts = Map<string, Float64Array>;

/** How often each address of a segment is on which side of traces of which type. */
async function countTraces(
  work: DirectoryWork,
  segment: number,
  isCurrent: () => boolean,
): Promise<Counts | undefined> {
  const { environment, state } = work;
  const counts: Counts = new Map();
  const attributes = new Array<Uint16Array | undefined>(BLOCKS_PER_SEGMENT);
  const end = postingKey(segment, 'transaction', FIRST_TERM);
  let start = postingKey(segment, 'from', FIRST_TERM);
  let isGivenUp = false;
  const count = (key: Buffer, positions: Uint32Array): void => {
    const address = key.toString('latin1', SIDE_AND_TERM_AT + 1, SIDE_AND_TERM_AT + 1 + ADDRESS_BYTES);
    const side = key[SIDE_AND_TERM_AT] === 0 ? 'from' : 'to';
    let columns = counts.get(address);
    if (columns === undefined) {
      columns = new Float64Array(COLUMNS);
      counts.set(address, columns);
    }
    const reader = new LmdbHistoryReader(environment, state());
    for (const position of positions) {
      const blockNumber = blockAt(segment, position);
      const offset = blockNumber % BLOCKS_PER_SEGMENT;
      const words = attributes[offset] ?? reader.attributes(blockNumber, new WorkLeft());
      attributes[offset] = words;
      const column = columnOf(side, typeIn(words[traceIndexAt(position)] ?? 0));
      columns[column] = (columns[column] ?? 0) + 1;
    }
  };
  await inSteps(work, () => {
    if (!isCurrent()) {
      isGivenUp = true;
      return true;
    }
    const endMs = performance.now() + STEP_MS;
    for (;;) {
      const records = [...environment.postings.getRange({ start, end, limit: LISTS_PER_LOOK })];
      for (const { key, value } of records) {
        const words = wordsOf(value);
        count(key, key.length === end.length ? positionsIn(words) : words);
      }
      const last = records.at(-1);
      if (last === undefined || records.length < LISTS_PER_LOOK) return true;
      start = Buffer.concat([last.key, Buffer.alloc(1)]);
      if (performance.now() > endMs) return false;
    }
  });
  return isGivenUp || work.isStopped() ? undefined : counts;
}
