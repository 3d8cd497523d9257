import { randomInt } from 'node:crypto';
import { BLOCKS_PER_SEGMENT, firstBlockOf } from '../../../../traces/index.ts';
import { DamagedIndexError } from '../damagedIndexError.ts';
import { DIRECTORY_KEY, SEGMENTS_KEY } from '../directory/directoryKeys.ts';
import { NO_RUN, SegmentStates } from '../directory/segmentStates.ts';
import { readIntact, type TraceEnvironment } from '../environment.ts';
import { uint32Key } from '../keys.ts';
import { rebuildOnDemand } from '../onDemandRecords.ts';
import {
  decodeBlock,
  encodeNumbers,
  encodeUnmerged,
  encodeVersion,
  Segment,
  UnmergedBlocks,
} from '../records.ts';
import { Writes } from '../write/writes.ts';

/**
 * Maximum number of segments whose blocks count as unmerged if the list of unmerged blocks is damaged. Their postings
 * are in memory until they are merged: 70 MB for a segment of mainnet.
 */
const MAX_UNMERGED_SEGMENTS = 8;

export interface SinglesRepair {
  readonly writes: Writes;
  readonly records: readonly string[];
}

/**
 * Returns the writes that derive the damaged single records again. A record that only nodes know (chain, finalized)
 * is removed, and ingest writes it again. Throws DamagedIndexError if a record cannot be derived.
 */
export function repairSingles(environment: TraceEnvironment): SinglesRepair {
  const writes = new Writes();
  const records = damagedSingles(environment);
  for (const name of records) repairSingle(name, environment, writes);
  if (rebuildOnDemand(environment, writes) && !records.includes('on-demand')) records.push('on-demand');
  return { writes, records };
}

/** Repairs damaged single records of an index that is being opened. Returns their names. */
export function repairAtOpen(environment: TraceEnvironment): readonly string[] {
  if (damagedSingles(environment).length === 0) return [];
  const { writes, records } = repairSingles(environment);
  environment.commitAtOpen(() => writes.execute());
  return records;
}

const damagedSingles = ({ meta }: TraceEnvironment): string[] =>
  [...meta.getKeys()]
    .map((key) => Buffer.from(key))
    .filter((key) => readIntact(meta, key) === undefined)
    .map((key) => key.toString());

function repairSingle(name: string, environment: TraceEnvironment, writes: Writes): void {
  const { meta } = environment;
  const put = (value: Buffer): void => writes.put(meta, Buffer.from(name), value);
  switch (name) {
    case 'state':
      // Any version differs from the one that other processes have read, with a probability of nearly 1.
      return put(encodeVersion({ changes: randomInt(2 ** 32), rewrites: randomInt(2 ** 32) }));
    case 'head': {
      const head = highestBlock(environment, 2 ** 32 - 1);
      return head === undefined ? writes.delete(meta, Buffer.from(name)) : put(uint32Key(head));
    }
    case 'unavailable':
      return put(encodeNumbers(unavailableBlocks(environment)));
    case 'unmerged':
      return put(encodeUnmerged(possiblyUnmerged(environment)));
    case 'history-hash-key':
    case 'history-segments':
      // Without runs, and with a new key, the directory is built again.
      writes.delete(meta, DIRECTORY_KEY);
      return writes.put(meta, SEGMENTS_KEY, segmentStates(environment).encode());
    case 'chain':
    case 'finalized':
      return writes.delete(meta, Buffer.from(name));
    case 'on-demand':
      return undefined;
    default:
      throw new DamagedIndexError(
        `record ${name} of meta cannot be derived from other records: restore a backup, or remove the folder of the index`,
      );
  }
}

/** Returns the highest block up to `upTo` whose record is intact. */
export function highestBlock({ blocks }: TraceEnvironment, upTo: number): number | undefined {
  for (const key of blocks.getKeys({ start: uint32Key(upTo), reverse: true }))
    if (readIntact(blocks, Buffer.from(key)) !== undefined) return key.readUInt32BE(0);
  return undefined;
}

function unavailableBlocks({ blocks }: TraceEnvironment): number[] {
  const numbers: number[] = [];
  for (const key of blocks.getKeys()) {
    const number = key.readUInt32BE(0);
    const record = readIntact(blocks, Buffer.from(key));
    if (record !== undefined && decodeBlock(number, record).unavailable !== undefined) numbers.push(number);
  }
  return numbers;
}

function segmentStates({ segments }: TraceEnvironment): SegmentStates {
  const states = new SegmentStates();
  for (const key of segments.getKeys()) {
    const record = readIntact(segments, Buffer.from(key));
    const segment = new Segment(record);
    const isComplete = segment.firstMissing(0) === BLOCKS_PER_SEGMENT;
    states.recordChange(key.readUInt32BE(0), {
      hasBlocks: record === undefined || !segment.isEmpty,
      isComplete,
    });
  }
  return states;
}

/**
 * Returns all heights, also missing ones, of the segments that no run covers. A run is built only for a segment without
 * unmerged blocks.
 */
function possiblyUnmerged(environment: TraceEnvironment): UnmergedBlocks[] {
  const { meta } = environment;
  const states = new SegmentStates(readIntact(meta, SEGMENTS_KEY) ?? segmentStates(environment).encode());
  const unmerged: UnmergedBlocks[] = [];
  for (const { first, last, level } of states.spans())
    for (let number = first; level === NO_RUN && number <= last; number++) {
      if (unmerged.length === MAX_UNMERGED_SEGMENTS)
        throw new DamagedIndexError(
          `the list of unmerged blocks cannot be derived, because more than ${MAX_UNMERGED_SEGMENTS} segments from ` +
            `block ${firstBlockOf(first)} on may have some: restore a backup, or remove the folder of the index`,
        );
      const blocks = new UnmergedBlocks(number);
      for (let offset = 0; offset < BLOCKS_PER_SEGMENT; offset++) blocks.add(offset);
      unmerged.push(blocks);
    }
  return unmerged;
}
