import { type DamagedPart, IndexUnavailableError, segmentOf } from '../../../traces/index.ts';

/** A record of the index is missing, or does not match its checksum. The reads of other records still work. */
export class DamagedIndexError extends IndexUnavailableError {
  override readonly name = 'DamagedIndexError';
  override readonly isUnproven = true;
  /** The part of the index that contains the record; undefined if it cannot be repaired. */
  readonly part: DamagedPart | undefined;

  constructor(what: string, part?: DamagedPart) {
    super(`the index is damaged: ${what}`);
    this.part = part;
  }
}

export const segmentPart = (segment: number): DamagedPart => ({ kind: 'segment', segment });

export const partOfBlock = (blockNumber: number): DamagedPart => segmentPart(segmentOf(blockNumber));

/** Returns the part of the index that contains a record of a database. */
export function partOf(database: string, key: Buffer): DamagedPart {
  const [name, number] = database.split('-');
  if (name === 'meta' || name === 'on' || key.length < 4) return { kind: 'singles' };
  const first = key.readUInt32BE(0);
  if (name === 'directory') return { kind: 'run', level: Number(number), run: first };
  return name === 'postings' || name === 'segments' ? segmentPart(first) : partOfBlock(first);
}
