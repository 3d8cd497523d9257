import {
  BLOCKS_PER_SEGMENT,
  blockAt,
  firstBlockOf,
  PAGE_POSITIONS,
  traceIndexAt,
  typeIn,
} from '../../../../traces/index.ts';
import { SIDE_AND_TERM_AT } from '../keys.ts';
import { AddressTally } from './addressTally.ts';
import { LmdbHistoryReader } from './historyReader.ts';
import { ADDRESS_BYTES } from './run.ts';
import { directoryHash, RunWriter } from './runWriter.ts';
import { SideRecords } from './sideRecords.ts';
import { inSteps, STEP_MS, type UpkeepContext } from './upkeepContext.ts';

const ADDRESS_AT = SIDE_AND_TERM_AT + 1;

/** Returns the type of the trace at a position in the segment, as an index in TRACE_TYPES. */
type TypeAt = (position: number) => number;

/**
 * Builds and stores the directory's run for one segment, whose postings must all be merged to disk. Stops if
 * `isCurrent` returns false.
 */
export async function buildRun(
  work: UpkeepContext,
  segment: number,
  isCurrent: () => boolean,
): Promise<void> {
  const { hash, isCurrent: hasSameKey } = await directoryHash(work);
  const tally = new AddressTally(hash, segment);
  const pieces = readSegment(work, segment, tally);
  await inSteps(work, () => {
    work.state();
    const endMs = performance.now() + STEP_MS;
    while (isCurrent() && !pieces.next().done) if (performance.now() > endMs) return false;
    return true;
  });
  if (!isCurrent() || work.isStopped()) return;
  const isValid = (): boolean => isCurrent() && hasSameKey();
  await new RunWriter(work, { level: 0, run: segment }, isValid).write(tally.run());
}

/**
 * Adds all addresses of a segment to `tally`. Yields after each block and each address, so that the caller can pause.
 */
function* readSegment(
  work: UpkeepContext,
  segment: number,
  tally: AddressTally,
): Generator<undefined, undefined> {
  const typeAt = yield* readTypes(work, segment);
  const { environment } = work;
  const from = new SideRecords(environment, segment, 'from');
  const to = new SideRecords(environment, segment, 'to');
  for (let key = lowest(from, to); key !== undefined; key = lowest(from, to)) {
    add(from, key, { tally, typeAt });
    add(to, key, { tally, typeAt });
    tally.finishAddress(key, ADDRESS_AT);
    yield;
  }
  return undefined;
}

function* readTypes({ environment, state }: UpkeepContext, segment: number): Generator<undefined, TypeAt> {
  const counts = state().segment(segment);
  const reader = new LmdbHistoryReader(environment, state());
  const types = new Uint8Array(counts.before(BLOCKS_PER_SEGMENT));
  for (let offset = 0; offset < BLOCKS_PER_SEGMENT; offset++) {
    if (!counts.has(offset)) continue;
    const attributes = reader.attributes(firstBlockOf(segment) + offset);
    const start = counts.before(offset);
    for (let index = 0; index < attributes.length; index++)
      types[start + index] = typeIn(attributes[index] ?? 0);
    yield;
  }
  return (position) => types[counts.before(blockAt(0, position)) + traceIndexAt(position)] ?? 0;
}

/**
 * Returns the key with the lower address of the next `from` and the next `to` record. Undefined if no record is left.
 */
function lowest(from: SideRecords, to: SideRecords): Buffer | undefined {
  const [a, b] = [from.head?.key, to.head?.key];
  if (a === undefined || b === undefined) return a ?? b;
  return compareAddresses(a, b) <= 0 ? a : b;
}

/** Adds the positions of the next `records` to the tally, as long as the records have the address of `key`. */
function add(
  records: SideRecords,
  key: Buffer,
  { tally, typeAt }: { readonly tally: AddressTally; readonly typeAt: TypeAt },
): void {
  for (let head = records.head; head !== undefined; head = records.head) {
    if (compareAddresses(head.key, key) !== 0) return;
    // If a posting list has several pages, page 0 ends with the length of the list, which is not a position.
    const count = Math.min(PAGE_POSITIONS, head.value.length / 4);
    for (let i = 0; i < count; i++) {
      const position = head.value.readUInt32LE(4 * i);
      tally.add(records.side, typeAt(position), position);
    }
    records.next();
  }
}

/** Compares the addresses in two keys. Returns a negative number if `a` is lower, 0 if they are equal. */
function compareAddresses(a: Uint8Array, b: Uint8Array): number {
  for (let at = ADDRESS_AT; at < ADDRESS_AT + ADDRESS_BYTES; at++) {
    const difference = (a[at] ?? 0) - (b[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
