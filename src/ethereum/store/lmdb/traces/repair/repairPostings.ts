import { blockAt, END_OF_SEGMENT, positionOf } from '../../../../traces/index.ts';
import { DamagedIndexError } from '../damagedIndexError.ts';
import { readIntact, type TraceEnvironment } from '../environment.ts';
import { pageKey, postingKeyOf, SIDE_AND_TERM_AT, SIDE_AND_TERM_BYTES, uint32Key } from '../keys.ts';
import { changePages, positionsIn, positionsOf, wordsOf } from '../postings/postingPages.ts';
import { visitPostings } from '../postings/storedPostings.ts';
import { writePages } from '../write/postingListChanger.ts';
import type { Writes } from '../write/writes.ts';

const LIST_KEY_BYTES = SIDE_AND_TERM_AT + SIDE_AND_TERM_BYTES;
/** Number of keys that one read returns. */
const KEYS_PER_READ = 256;

export interface PostingsRepairOptions {
  readonly segment: number;
  readonly environment: TraceEnvironment;
  readonly writes: Writes;
  readonly pause: () => Promise<void> | undefined;
}

/** A block whose chunks are intact. */
export interface IntactBlock {
  readonly number: number;
  readonly chunks: readonly Uint8Array[];
}

/**
 * Adds the writes that repair the posting lists of a segment: removes the positions of the blocks `removed`, and derives
 * damaged lists from the chunks of the intact blocks. Returns false if a key is damaged, so that an unknown list is
 * missing. All lists must then be derived again.
 */
export async function repairPostings(
  { segment, environment, writes, pause }: PostingsRepairOptions,
  removed: ReadonlySet<number>,
  intact: () => Iterable<IntactBlock>,
): Promise<boolean> {
  const { postings } = environment;
  const to = { postings, writes };
  const damaged = new Map<string, number[]>();
  const shortened = new Map<string, Buffer>();
  const end = uint32Key(segment + 1);
  for (let start: Buffer | undefined = uint32Key(segment); start !== undefined; ) {
    const keys: Buffer[] = [...postings.getKeys({ start, end, limit: KEYS_PER_READ })].map((key) =>
      Buffer.from(key),
    );
    for (const key of keys) {
      const list = key.subarray(0, LIST_KEY_BYTES);
      const page = readIntact(postings, key);
      if (page === undefined) damaged.set(nameOf(list), []);
      else if (
        removed.size > 0 &&
        positionsIn(wordsOf(page)).some((one) => removed.has(blockAt(segment, one)))
      )
        shortened.set(nameOf(list), list);
    }
    const last = keys.at(-1);
    start = keys.length < KEYS_PER_READ ? undefined : last && Buffer.concat([last, Buffer.alloc(1)]);
    await pause();
  }

  const removeStart = positionOf(Math.min(...removed), 0);
  for (const [name, key] of shortened) {
    if (damaged.has(name)) continue;
    const readPage = (page: number): Buffer | undefined => readIntact(postings, pageKey(key, page));
    try {
      const kept = positionsOf(wordsOf(readPage(0) ?? Buffer.alloc(0)), readPage).filter(
        (position) => position >= removeStart && !removed.has(blockAt(segment, position)),
      );
      writePages(key, changePages(readPage, removeStart, kept), to);
    } catch (error) {
      if (!(error instanceof DamagedIndexError)) throw error;
      damaged.set(name, []);
    }
    await pause();
  }
  if (damaged.size === 0) return true;

  for (const { number, chunks } of intact()) {
    visitPostings(number, chunks, (sideAndTerm, position) => {
      damaged.get(nameOf(postingKeyOf(segment, sideAndTerm)))?.push(position);
    });
    await pause();
  }
  if ([...damaged.values()].some((positions) => positions.length === 0)) return false;
  for (const [name, positions] of damaged) {
    const key = Buffer.from(name, 'latin1');
    const following = Buffer.concat([key, Buffer.alloc(5, 0xff)]);
    for (const page of postings.getKeys({ start: key, end: following }))
      writes.delete(postings, Buffer.from(page));
    writePages(
      key,
      changePages(() => undefined, END_OF_SEGMENT, positions),
      to,
    );
  }
  return true;
}

const nameOf = (listKey: Buffer): string => listKey.toString('latin1');
