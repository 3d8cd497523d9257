import { randomInt } from 'node:crypto';
import { BLOCKS_PER_SEGMENT, firstBlockOf } from '../../../../traces/index.ts';
import { uncheckedValue } from '../checksum.ts';
import { DamagedIndexError } from '../damagedIndexError.ts';
import { DIRECTORY_KEY, SEGMENTS_KEY } from '../directory/directoryKeys.ts';
import { NO_RUN, SegmentStates } from '../directory/segmentStates.ts';
import {
  dictionaryNumber,
  encodeNewestDictionary,
  lastResort,
  NO_DICTIONARY,
  readIntact,
  type TraceEnvironment,
} from '../environment.ts';
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
import { hasUnknownSingle, isSingle, SINGLES, type Single } from '../singles.ts';
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
 * is removed, and ingest writes it again. A damaged dictionary keeps its bytes: chunks that need other bytes do not
 * match their checksums. A record with an unknown name had another key, so all missing records are derived. Throws
 * DamagedIndexError if a record cannot be derived.
 */
export function repairSingles(environment: TraceEnvironment): SinglesRepair {
  const { meta } = environment;
  const writes = new Writes();
  const damaged = damagedSingles(environment);
  const lost = hasUnknownSingle(environment)
    ? SINGLES.filter((name) => !meta.doesExist(Buffer.from(name)))
    : isDirectoryKeyLost(environment)
      ? (['history-hash-key'] as const)
      : [];
  for (const name of [...damaged, ...lost]) {
    const key = Buffer.from(name);
    if (isSingle(name)) repairSingle(name, environment, writes);
    else if (dictionaryNumber(name) !== undefined)
      writes.put(meta, key, uncheckedValue(meta.getBinary(key) ?? Buffer.alloc(0)));
    else writes.delete(meta, key);
  }
  const records: string[] = [...damaged, ...lost];
  if (rebuildOnDemand(environment, writes) && !records.includes('on-demand')) records.push('on-demand');
  return { writes, records };
}

/** Repairs damaged single records of an index that is being opened. Returns their names. */
export function repairAtOpen(environment: TraceEnvironment): readonly string[] {
  if (damagedSingles(environment).length === 0 && !isDirectoryKeyLost(environment)) return [];
  const { writes, records } = repairSingles(environment);
  environment.commitAtOpen(() => writes.execute());
  return records;
}

/** Returns the names of the single records that are damaged. */
export const damagedSingles = ({ meta }: TraceEnvironment): string[] =>
  [...meta.getKeys()]
    .map((key) => Buffer.from(key))
    .filter((key) => readIntact(meta, key) === undefined)
    .map((key) => key.toString());

/** Whether runs of the directory exist, but not the key with which their addresses were hashed. */
function isDirectoryKeyLost({ meta }: TraceEnvironment): boolean {
  const states = readIntact(meta, SEGMENTS_KEY);
  return states !== undefined && !meta.doesExist(DIRECTORY_KEY) && new SegmentStates(states).hasRuns();
}

function repairSingle(name: Single, environment: TraceEnvironment, writes: Writes): void {
  const { meta } = environment;
  const key = Buffer.from(name);
  const put = (value: Buffer): void => writes.put(meta, key, value);
  switch (name) {
    case 'state':
      // Any version differs from the one that other processes have read, with a probability of nearly 1.
      return put(encodeVersion({ changes: randomInt(2 ** 32), rewrites: randomInt(2 ** 32) }));
    case 'head': {
      const head = highestBlock(environment, 2 ** 32 - 1);
      return head === undefined ? writes.delete(meta, key) : put(uint32Key(head));
    }
    case 'dictionary': {
      const newest = environment.newestDictionary();
      if (newest === NO_DICTIONARY) return writes.delete(meta, key);
      return put(encodeNewestDictionary(newest, firstSegmentWith(newest, environment)));
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
      return writes.delete(meta, key);
    case 'on-demand':
      return undefined;
  }
}

/** Returns the first segment whose chunks are compressed with a dictionary; 0 if there is none. */
function firstSegmentWith(dictionary: number, { segments }: TraceEnvironment): number {
  for (const key of segments.getKeys()) {
    const segment = new Segment(readIntact(segments, Buffer.from(key)));
    if (!segment.isEmpty && segment.dictionary === dictionary) return key.readUInt32BE(0);
  }
  return 0;
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
            `block ${firstBlockOf(first)} on may have some: ${lastResort(environment.path)}`,
        );
      const blocks = new UnmergedBlocks(number);
      for (let offset = 0; offset < BLOCKS_PER_SEGMENT; offset++) blocks.add(offset);
      unmerged.push(blocks);
    }
  return unmerged;
}
