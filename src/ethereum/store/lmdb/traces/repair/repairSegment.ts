import { setImmediate as afterPolling } from 'node:timers/promises';
import type { Database } from 'lmdb';
import {
  attributesOf,
  BLOCKS_PER_SEGMENT,
  CHUNK_HEAD_BYTES,
  type DamagedPart,
  dataChunksOf,
  firstBlockOf,
  type StoredBlock,
  TRACES_PER_CHUNK,
} from '../../../../traces/index.ts';
import { SEGMENTS_KEY } from '../directory/directoryKeys.ts';
import { SegmentStates } from '../directory/segmentStates.ts';
import {
  NO_DICTIONARY,
  readIntact,
  STATE_KEY,
  type TraceEnvironment,
  UNAVAILABLE_KEY,
  UNMERGED_KEY,
} from '../environment.ts';
import type { IndexState } from '../indexState.ts';
import { chunkKey, chunksOf, uint32Key } from '../keys.ts';
import { OnDemandChanges } from '../onDemandRecords.ts';
import {
  decodeBlock,
  decodeNumbers,
  decodeUnmerged,
  encodeBlock,
  encodeNumbers,
  encodeUnmerged,
  encodeVersion,
  Segment,
  UnmergedBlocks,
} from '../records.ts';
import { Writes } from '../write/writes.ts';
import { type IntactBlock, repairPostings } from './repairPostings.ts';
import { highestBlock } from './repairSingles.ts';

/** Time for which a step blocks the thread. */
const STEP_MS = 3;

export interface Repaired {
  readonly environment: TraceEnvironment;
  readonly state: IndexState;
}

type SegmentPart = Extract<DamagedPart, { kind: 'segment' }>;

export interface SegmentRepair {
  readonly writes: Writes;
  readonly unavailable: readonly number[];
  readonly removed: readonly number[];
}

/**
 * Returns the writes that repair a segment. Checks each record of its blocks. A block whose traces are damaged becomes
 * unavailable, so that only traces of the block with its hash can replace them. A block whose hash is damaged is
 * removed. Everything else is derived from intact blocks: attributes, trace counts, and damaged posting lists. If the
 * lists are to be rebuilt, or a key is damaged, removes all lists, so that their blocks count as unmerged. No other
 * change of the index may run until the writes are committed.
 */
export async function repairSegment(
  { segment: number, isRebuilt }: SegmentPart,
  { environment, state }: Repaired,
): Promise<SegmentRepair> {
  const { meta, segments, postings } = environment;
  const writes = new Writes();
  const repair = new BlocksRepair(number, environment, writes);
  const pause = pauses();
  for (let offset = 0; offset < BLOCKS_PER_SEGMENT; offset++) {
    repair.check(offset);
    await pause();
  }
  const { segment, unavailable, removed } = repair;
  writes.put(segments, uint32Key(number), segment.encode());

  const all = decodeUnmerged(environment.read(meta, UNMERGED_KEY));
  const unmerged = new UnmergedBlocks(number);
  const before = all.find((one) => one.segment === number);
  const lost = new Set([...unavailable, ...removed]);
  const isRepaired =
    !isRebuilt &&
    (await repairPostings({ segment: number, environment, writes, pause }, lost, () =>
      repair.intactBlocks(),
    ));
  if (!isRepaired)
    for (const key of postings.getKeys({ start: uint32Key(number), end: uint32Key(number + 1) }))
      writes.delete(postings, Buffer.from(key));
  for (let offset = 0; offset < BLOCKS_PER_SEGMENT; offset++)
    if (segment.has(offset) && (!isRepaired || before?.has(offset))) unmerged.add(offset);
  // The directory has no run of a segment that is listed as unmerged.
  const left = isRepaired && before === undefined ? [] : [unmerged];
  writes.put(meta, UNMERGED_KEY, encodeUnmerged([...all.filter((one) => one !== before), ...left]));

  const gone = new Set(removed);
  const listed = decodeNumbers(environment.read(meta, UNAVAILABLE_KEY));
  const known = new Set([...listed, ...unavailable].filter((one) => !gone.has(one)));
  writes.put(meta, UNAVAILABLE_KEY, encodeNumbers([...known].sort((a, b) => a - b)));

  const onDemand = new OnDemandChanges({ environment, state }, writes);
  for (const one of removed) onDemand.delete(one);
  onDemand.finish();

  const head = environment.read(meta, Buffer.from('head'))?.readUInt32BE(0);
  if (head !== undefined && gone.has(head)) {
    const highest = highestBlock(environment, head - 1);
    if (highest === undefined) writes.delete(meta, Buffer.from('head'));
    else writes.put(meta, Buffer.from('head'), uint32Key(highest));
  }

  const states = new SegmentStates(environment.read(meta, SEGMENTS_KEY));
  const isComplete = segment.firstMissing(0) === BLOCKS_PER_SEGMENT;
  states.recordChange(number, { hasBlocks: !segment.isEmpty, isComplete });
  writes.put(meta, SEGMENTS_KEY, states.encode());

  putNextVersion(environment, writes);
  return { writes, unavailable, removed };
}

/** Adds the write of the next version of the index, in which positions and runs may differ. */
export function putNextVersion(environment: TraceEnvironment, writes: Writes): void {
  const { meta } = environment;
  const version = environment.read(meta, STATE_KEY);
  const [changes = 0, rewrites = 0] = [version?.readUInt32BE(0), version?.readUInt32BE(4)];
  writes.put(meta, STATE_KEY, encodeVersion({ changes: changes + 1, rewrites: rewrites + 1 }));
}

/** Returns a function that pauses if the thread has been blocked for STEP_MS. */
function pauses(): () => Promise<void> | undefined {
  let endMs = performance.now() + STEP_MS;
  return () => {
    if (performance.now() < endMs) return undefined;
    return afterPolling().then(() => {
      endMs = performance.now() + STEP_MS;
    });
  };
}

class BlocksRepair {
  readonly segment = new Segment();
  readonly unavailable: number[] = [];
  readonly removed: number[] = [];
  readonly #environment: TraceEnvironment;
  readonly #writes: Writes;
  readonly #first: number;
  readonly #chunks: Database<Buffer, Buffer>;
  /** The record of the segment before the repair; undefined if it is damaged or missing. */
  readonly #before: Segment | undefined;

  constructor(number: number, environment: TraceEnvironment, writes: Writes) {
    this.#environment = environment;
    this.#writes = writes;
    this.#first = firstBlockOf(number);
    const record = readIntact(environment.segments, uint32Key(number));
    this.#before = record && new Segment(record);
    const { start } = chunksOf(this.#first);
    const { end } = chunksOf(this.#first + BLOCKS_PER_SEGMENT - 1);
    this.segment.dictionary =
      this.#before?.dictionary ?? environment.dictionaryOfChunks({ start, end }) ?? NO_DICTIONARY;
    this.#chunks = environment.chunks(this.segment.dictionary);
  }

  check(offset: number): void {
    const { blocks } = this.#environment;
    const number = this.#first + offset;
    const record = readIntact(blocks, uint32Key(number));
    if (record === undefined) return this.#remove(number);
    const block = decodeBlock(number, record);
    if (block.unavailable !== undefined) return;
    const chunks = this.#intactChunks(block);
    if (chunks === undefined) {
      this.unavailable.push(number);
      this.#removeTraces(number);
      const unavailable = { ...block, traceCount: 0, unavailable: 'damaged' } as const;
      this.#writes.put(blocks, uint32Key(number), encodeBlock(unavailable));
      return;
    }
    this.segment.set(offset, block.traceCount);
    this.#checkAttributes(block, chunks);
  }

  /** Yields the blocks that `check` has found intact. */
  *intactBlocks(): Generator<IntactBlock> {
    for (let offset = 0; offset < BLOCKS_PER_SEGMENT; offset++) {
      const number = this.#first + offset;
      const record = this.segment.has(offset) && readIntact(this.#environment.blocks, uint32Key(number));
      if (record) yield { number, chunks: this.#intactChunks(decodeBlock(number, record)) ?? [] };
    }
  }

  #remove(number: number): void {
    const { blocks } = this.#environment;
    if (!blocks.doesExist(uint32Key(number)) && !this.#before?.has(number - this.#first)) return;
    this.removed.push(number);
    this.#removeTraces(number);
    this.#writes.delete(blocks, uint32Key(number));
  }

  #removeTraces(number: number): void {
    this.#writes.delete(this.#environment.attributes, uint32Key(number));
    for (const key of this.#chunks.getKeys(chunksOf(number)))
      this.#writes.delete(this.#chunks, Buffer.from(key));
  }

  /** Returns the chunks with the traces of a block; undefined if they, or data to which they refer, are damaged. */
  #intactChunks({ number, hash, traceCount }: StoredBlock): Buffer[] | undefined {
    const read = (chunk: number): Buffer | undefined => {
      const bytes = readIntact(this.#chunks, chunkKey(number, chunk));
      const isOfBlock = bytes?.toString('hex', 2, CHUNK_HEAD_BYTES) === hash.slice(2);
      return isOfBlock ? Buffer.from(bytes) : undefined;
    };
    const chunks: Buffer[] = [];
    const dataChunks = new Set<number>();
    for (let left = traceCount; left > 0; left -= TRACES_PER_CHUNK) {
      const bytes = read(chunks.length);
      const count = Math.min(left, TRACES_PER_CHUNK);
      if (bytes === undefined || bytes[0] !== count) return undefined;
      for (let index = 0; index < count; index++)
        for (const chunk of dataChunksOf(bytes, index)) dataChunks.add(chunk);
      chunks.push(bytes);
    }
    return [...dataChunks].every((chunk) => read(chunk)?.[0] === 0) ? chunks : undefined;
  }

  #checkAttributes({ number, traceCount }: StoredBlock, chunks: readonly Buffer[]): void {
    const { attributes } = this.#environment;
    const held = readIntact(attributes, uint32Key(number));
    const words = attributesOf(chunks, traceCount);
    const value = Buffer.from(words.buffer, words.byteOffset, words.byteLength);
    if (held === undefined || !value.equals(held)) this.#writes.put(attributes, uint32Key(number), value);
  }
}
