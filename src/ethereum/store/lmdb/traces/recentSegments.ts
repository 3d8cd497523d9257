import {
  BLOCKS_PER_SEGMENT,
  type DamagedPart,
  firstBlockOf,
  type Hash,
  type IndexedBlock,
  RecentPostings,
  type StoredBlock,
  writeHex,
} from '../../../traces/index.ts';
import { segmentPart } from './damagedIndexError.ts';
import { SIDE_AND_TERM_BYTES, SIDES } from './keys.ts';
import { chunksWithTraces, type StoredChunks, visitPostings } from './postings/storedPostings.ts';
import type { Segment, UnmergedBlocks } from './records.ts';

/** Stored data of blocks, from which the postings of recent blocks are built. */
export interface StoredBlocks extends StoredChunks {
  segment(number: number): Segment;
  block(blockNumber: number): StoredBlock | undefined;
  /** Returns the error for a missing record. */
  lost(what: string, part: DamagedPart): unknown;
}

interface LoadedBlock {
  readonly number: number;
  readonly hash: Hash;
  readonly postingsBefore: number;
}

interface RecentSegment {
  readonly postings: RecentPostings;
  /** Blocks whose postings are in `postings`, in the order in which they were added. */
  readonly blocks: LoadedBlock[];
  readonly isLoaded: Uint8Array;
}

/**
 * Posting lists of recent blocks, which are in memory until they are merged to disk. Each process derives these lists
 * from the stored blocks, so nothing is lost when a process ends.
 */
export class RecentSegments {
  readonly #stored: StoredBlocks;
  readonly #segments = new Map<number, RecentSegment>();
  /** Blocks that this process is writing, by block number. Their postings need not be read from chunks. */
  #staged: ReadonlyMap<number, IndexedBlock> = new Map();
  readonly #key = Buffer.alloc(SIDE_AND_TERM_BYTES);

  constructor(stored: StoredBlocks) {
    this.#stored = stored;
  }

  get size(): number {
    let size = 0;
    for (const { postings } of this.#segments.values()) size += postings.size;
    return size;
  }

  of(segment: number): RecentPostings | undefined {
    return this.#segments.get(segment)?.postings;
  }

  /** Registers blocks that are being written, so that `update` need not read their postings from the chunks. */
  stage(blocks: readonly IndexedBlock[]): void {
    this.#staged = new Map(blocks.map((block) => [block.block.number, block]));
  }

  /**
   * Changes the lists so that they contain the postings of the blocks in `unmerged`. `isRewritten` is false if no block
   * was removed since the last update.
   */
  update(unmerged: readonly UnmergedBlocks[], isRewritten: boolean): void {
    for (const segment of this.#segments.keys())
      if (!unmerged.some((blocks) => blocks.segment === segment)) this.#segments.delete(segment);
    for (const blocks of unmerged) {
      let recent = this.#segments.get(blocks.segment);
      if (recent?.blocks.some(({ number }) => !blocks.has(number % BLOCKS_PER_SEGMENT))) recent = undefined;
      recent ??= {
        postings: new RecentPostings(SIDE_AND_TERM_BYTES),
        blocks: [],
        isLoaded: new Uint8Array(BLOCKS_PER_SEGMENT),
      };
      this.#segments.set(blocks.segment, recent);
      if (isRewritten) this.#cutOff(recent);
      this.#loadMore(blocks, recent);
    }
  }

  /**
   * Removes the postings of the first block that was replaced or removed, and of all blocks that were loaded after
   * it. `#loadMore` then loads again those of the blocks that still exist.
   */
  #cutOff({ blocks, postings, isLoaded }: RecentSegment): void {
    const changed = blocks.findIndex(({ number, hash }) => this.#stored.block(number)?.hash !== hash);
    if (changed === -1) return;
    postings.truncate(blocks[changed]?.postingsBefore ?? 0);
    for (const { number } of blocks.splice(changed)) isLoaded[number % BLOCKS_PER_SEGMENT] = 0;
  }

  #loadMore(unmerged: UnmergedBlocks, { blocks, postings, isLoaded }: RecentSegment): void {
    const segment = this.#stored.segment(unmerged.segment);
    const first = firstBlockOf(unmerged.segment);
    for (let offset = 0; offset < BLOCKS_PER_SEGMENT; offset++) {
      if (isLoaded[offset] !== 0 || !unmerged.has(offset) || !segment.has(offset)) continue;
      const block = this.#stored.block(first + offset);
      if (block === undefined)
        throw this.#stored.lost(`block ${first + offset} is missing`, segmentPart(unmerged.segment));
      const postingsBefore = postings.size;
      try {
        this.#load(block, postings);
      } catch (error) {
        postings.truncate(postingsBefore);
        throw error;
      }
      blocks.push({ number: block.number, hash: block.hash, postingsBefore });
      isLoaded[offset] = 1;
    }
  }

  #load(block: StoredBlock, postings: RecentPostings): void {
    const staged = this.#staged.get(block.number);
    if (staged?.block.hash === block.hash) this.#addStaged(staged, postings);
    else
      visitPostings(block.number, chunksWithTraces(block, this.#stored), (sideAndTerm, position) =>
        postings.add(sideAndTerm, 0, position),
      );
  }

  #addStaged(block: IndexedBlock, postings: RecentPostings): void {
    SIDES.forEach((side, sideNumber) => {
      const { terms, positions } = block.postings[side];
      this.#key[0] = sideNumber;
      for (let i = 0; i < terms.length; i++) {
        writeHex(this.#key, 1, terms[i] ?? '');
        postings.add(this.#key, 0, positions[i] ?? 0);
      }
    });
  }
}
