import type { HalfSipHash } from './halfSipHash.ts';
import {
  bucketBitsFor,
  bucketKey,
  bucketOf,
  COLUMNS,
  decodeRunHead,
  type Entry,
  encodePart,
  entriesIn,
  hashOf,
  runKey,
  visitParts,
} from './run.ts';
import { databaseOf, directoryHash, type RunName, RunWriter, removeRun } from './runWriter.ts';
import { runOf, type SegmentStates, segmentsPerRun } from './segmentStates.ts';
import type { DirectoryWork } from './work.ts';

/** What is usual of the bytes of eight runs that is left in one: an address stands in it once. */
const LEFT_AFTER_MERGE = 0.75;

/** Makes one run out of all that its segments are in, and removes those. Given up where blocks change meanwhile. */
export async function mergeRuns(work: DirectoryWork, name: RunName): Promise<void> {
  const hash = await directoryHash(work);
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
  const writer = new RunWriter(work, name, () => stateOf() === before);
  const isWritten = await writer.write(bits, (bucket) => {
    const merged = new Map<string, Uint8Array[]>();
    for (const source of sources)
      for (const { address, parts } of source.entries(bucket, bits)) {
        const key = Buffer.from(address).toString('latin1');
        const others = merged.get(key);
        if (others === undefined) merged.set(key, [parts]);
        else others.push(parts);
      }
    return Array.from(merged, ([address, parts]) => ({
      address: Buffer.from(address, 'latin1'),
      parts: Buffer.concat(parts),
    }));
  });
  if (isWritten) for (const source of sources) await removeRun(work, source.name);
}

function sourcesOf(
  work: DirectoryWork,
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

/** A run that is read bucket by bucket. */
class Source {
  readonly name: RunName;
  readonly bytes: number;
  readonly #work: DirectoryWork;
  readonly #bits: number;
  readonly #hash: HalfSipHash;
  readonly #has: (segment: number) => boolean;
  readonly #isWhole: boolean;
  #bucket = -1;
  #entries: (Entry & { readonly hash: number })[] = [];

  constructor(
    work: DirectoryWork,
    name: RunName,
    { states, hash }: { readonly states: SegmentStates; readonly hash: HalfSipHash },
  ) {
    this.#work = work;
    this.name = name;
    this.#hash = hash;
    const head = work.state().read(databaseOf(work, name), runKey(name.run));
    if (head === undefined)
      throw new Error(`the index is damaged: run ${name.run} of level ${name.level} is missing`);
    const { bits, bytes } = decodeRunHead(head);
    this.#bits = bits;
    this.bytes = bytes;
    this.#has = (segment) => states.levelOf(segment) === name.level;
    const segments = segmentsPerRun(name.level);
    this.#isWhole = Array.from({ length: segments }, (_, i) => name.run * segments + i).every(this.#has);
  }

  /** The entries of a bucket, of a table that tells buckets apart by `bits`. */
  *entries(bucket: number, bits: number): Generator<Entry> {
    const fewer = bits - this.#bits;
    const [own, count] =
      fewer >= 0 ? [Math.floor(bucket / 2 ** fewer), 1] : [bucket * 2 ** -fewer, 2 ** -fewer];
    for (let i = 0; i < count; i++)
      for (const { hash, address, parts } of this.#read(own + i))
        if (bucketOf(hash, bits) === bucket) {
          const left = this.#isWhole ? parts : this.#valid(parts);
          if (left.length > 0) yield { address, parts: left };
        }
  }

  #read(bucket: number): (Entry & { readonly hash: number })[] {
    if (bucket === this.#bucket) return this.#entries;
    const record = this.#work
      .state()
      .read(databaseOf(this.#work, this.name), bucketKey(this.name.run, bucket));
    this.#bucket = bucket;
    this.#entries =
      record === undefined
        ? []
        : [...entriesIn(Uint8Array.from(record))].map((entry) => ({
            ...entry,
            hash: hashOf(this.#hash, entry.address),
          }));
    return this.#entries;
  }

  /** Parts of segments that are still looked up here: others have changed since. */
  #valid(parts: Uint8Array): Uint8Array {
    const kept: Uint8Array[] = [];
    const counts = new Float64Array(COLUMNS);
    visitParts(parts, counts, (segment) => {
      if (this.#has(segment)) kept.push(encodePart(segment, counts));
    });
    return Buffer.concat(kept);
  }
}
