import type { HalfSipHash } from './halfSipHash.ts';
import { MergedEntries } from './mergedEntries.ts';
import { PartReader } from './parts.ts';
import {
  BucketWriter,
  bucketBitsFor,
  bucketOf,
  decodeRunHead,
  EntryReader,
  hashOf,
  type RunName,
} from './run.ts';
import { directoryHash, RunWriter, removeRun } from './runWriter.ts';
import { runOf, type SegmentStates, segmentsPerRun } from './segmentStates.ts';
import type { UpkeepContext } from './upkeepContext.ts';

/**
 * Typical size of a merged run, as a share of the total size of its sources. A merged run stores each address only
 * once.
 */
const LEFT_AFTER_MERGE = 0.75;

/**
 * Merges the smaller runs of all segments of run `name` into run `name`, then removes the smaller runs. Stops if the
 * blocks or runs of these segments change.
 */
export async function mergeRuns(work: UpkeepContext, name: RunName): Promise<void> {
  const { hash, isCurrent: hasSameKey } = await directoryHash(work);
  const segments = segmentsPerRun(name.level);
  const first = name.run * segments;
  const stateOf = (): string =>
    work
      .state()
      .segmentStates()
      .encode()
      .toString('latin1', first, first + segments);
  const before = stateOf();
  const sources = sourcesOf(work, { first, segments }, hash);
  const bytes = sources.reduce((sum, source) => sum + source.bytes, 0);
  const bits = bucketBitsFor(bytes * LEFT_AFTER_MERGE);
  const buckets = new BucketWriter();
  const writer = new RunWriter(work, name, () => stateOf() === before && hasSameKey());
  const isWritten = await writer.write({
    bits,
    bucket(number) {
      const merged = new MergedEntries();
      for (const source of sources) source.addTo(merged, number, bits);
      merged.writeTo(buckets);
      return buckets.take();
    },
  });
  if (isWritten) for (const source of sources) await removeRun(work, source.name);
}

function sourcesOf(
  work: UpkeepContext,
  { first, segments }: { readonly first: number; readonly segments: number },
  hash: HalfSipHash,
): Source[] {
  const states = work.state().segmentStates();
  const sources = new Map<string, Source>();
  for (let segment = first; segment < first + segments; segment++) {
    const level = states.levelOf(segment);
    const run = runOf(level, segment);
    const key = `${level} ${run}`;
    if (!sources.has(key)) sources.set(key, new Source(work, { level, run }, { states, hash }));
  }
  return [...sources.values()];
}

/** A bucket of a run. `hashes` are the hashes of the addresses in its entries, in the order of the entries. */
interface Bucket {
  readonly number: number;
  readonly bytes: Uint8Array;
  readonly hashes: readonly number[];
}

class Source {
  readonly name: RunName;
  readonly bytes: number;
  readonly #work: UpkeepContext;
  readonly #bits: number;
  readonly #hash: HalfSipHash;
  readonly #has: (segment: number) => boolean;
  readonly #isWhole: boolean;
  readonly #part = new PartReader();
  #bucket: Bucket = { number: -1, bytes: new Uint8Array(), hashes: [] };

  constructor(
    work: UpkeepContext,
    name: RunName,
    { states, hash }: { readonly states: SegmentStates; readonly hash: HalfSipHash },
  ) {
    this.#work = work;
    this.name = name;
    this.#hash = hash;
    const { bits, bytes } = decodeRunHead(work.state().runRecord(name));
    this.#bits = bits;
    this.bytes = bytes;
    this.#has = (segment) => states.levelOf(segment) === name.level;
    const segments = segmentsPerRun(name.level);
    this.#isWhole = Array.from({ length: segments }, (_, i) => name.run * segments + i).every(this.#has);
  }

  /**
   * Adds those entries of this run that belong to a bucket of the merged run. `bits` hash bits select a bucket of the
   * merged run.
   */
  addTo(merged: MergedEntries, bucket: number, bits: number): void {
    const fewer = bits - this.#bits;
    const [own, count] =
      fewer >= 0 ? [Math.floor(bucket / 2 ** fewer), 1] : [bucket * 2 ** -fewer, 2 ** -fewer];
    for (let number = own; number < own + count; number++) {
      const { bytes, hashes } = this.#read(number);
      const entry = new EntryReader(bytes);
      for (const hash of hashes) {
        entry.next();
        if (bucketOf(hash, bits) !== bucket) continue;
        if (this.#isWhole) merged.add(hash, entry);
        else {
          const left = this.#valid(bytes.subarray(entry.partsAt, entry.end));
          if (left.length > 0) merged.add(hash, entry, left);
        }
      }
    }
  }

  /**
   * Returns a bucket of this run. Its bytes are a copy, because later reads from the database could overwrite them.
   */
  #read(number: number): Bucket {
    if (number === this.#bucket.number) return this.#bucket;
    const bytes = new Uint8Array(this.#work.state().runRecord(this.name, number));
    const hashes: number[] = [];
    for (const entry = new EntryReader(bytes); entry.next(); )
      hashes.push(hashOf(this.#hash, bytes, entry.at));
    this.#bucket = { number, bytes, hashes };
    return this.#bucket;
  }

  /**
   * Returns those of `parts` whose segments still use this run. The other segments have changed since it was written.
   */
  #valid(parts: Uint8Array): Uint8Array {
    const kept: Uint8Array[] = [];
    const part = this.#part.open(parts);
    while (part.next()) if (this.#has(part.segment)) kept.push(parts.subarray(part.start, part.end));
    return Buffer.concat(kept);
  }
}
