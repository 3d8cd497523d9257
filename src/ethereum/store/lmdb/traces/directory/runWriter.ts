import { randomBytes } from 'node:crypto';
import type { Database } from 'lmdb';
import { Writes } from '../writes.ts';
import { DIRECTORY_KEY } from './directoryKeys.ts';
import { HASH_KEY_BYTES, HalfSipHash } from './halfSipHash.ts';
import { bucketKey, encodeRunHead, runKey } from './run.ts';
import { segmentsPerRun } from './segmentStates.ts';
import { changeStates, type DirectoryWork, inSteps, STEP_MS } from './work.ts';

export interface RunName {
  readonly level: number;
  readonly run: number;
}

/** What a run consists of. */
export interface RunContent {
  /** Bits of a hash that tell its buckets apart. */
  readonly bits: number;
  /** A bucket as bytes that nothing overwrites; undefined where it is empty. They are asked for in their order, each once. */
  bucket(number: number): Buffer | undefined;
}

/** Records of a run that are removed in one step. */
const REMOVED_PER_STEP = 500;

/** Writes one run, in steps. It counts from the last step on; whatever is broken off before is written anew. */
export class RunWriter {
  readonly #work: DirectoryWork;
  readonly #name: RunName;
  readonly #isCurrent: () => boolean;

  /** `isCurrent` says whether what the run is made from is still so: else it is given up. */
  constructor(work: DirectoryWork, name: RunName, isCurrent: () => boolean) {
    this.#work = work;
    this.#name = name;
    this.#isCurrent = isCurrent;
  }

  /** True where it was written. */
  async write({ bits, bucket: bucketAt }: RunContent): Promise<boolean> {
    const database = databaseOf(this.#work, this.#name);
    await removeRun(this.#work, this.#name);
    const { run } = this.#name;
    let bucket = 0;
    let bytes = 0;
    let isWritten = false;
    await inSteps(this.#work, async () => {
      if (!this.#isCurrent()) return true;
      const writes = new Writes();
      const isBehindAll = isLast(database, run);
      const put = (key: Buffer, value: Buffer): void =>
        isBehindAll ? writes.append(database, key, value) : writes.put(database, key, value);
      const endMs = performance.now() + STEP_MS;
      for (; bucket < 2 ** bits && performance.now() < endMs; bucket++) {
        const record = bucketAt(bucket);
        if (record === undefined) continue;
        bytes += record.length;
        put(bucketKey(run, bucket), record);
      }
      isWritten = bucket === 2 ** bits;
      if (isWritten) {
        writes.put(database, runKey(run), encodeRunHead(bits, bytes));
        this.#take(writes);
      }
      await this.#work.commit(writes);
      return isWritten;
    });
    return isWritten;
  }

  /** From now on the segments of the run are looked up in it. */
  #take(writes: Writes): void {
    const { level, run } = this.#name;
    const segments = segmentsPerRun(level);
    changeStates(this.#work, writes, (states) => {
      for (let segment = run * segments; segment < (run + 1) * segments; segment++)
        states.inRun(segment, level);
    });
  }
}

/** Removes what there is of a run that nothing is looked up in. */
export function removeRun(work: DirectoryWork, name: RunName): Promise<void> {
  const database = databaseOf(work, name);
  return inSteps(work, async () => {
    const range = { start: runKey(name.run), end: runKey(name.run + 1), limit: REMOVED_PER_STEP };
    const keys = [...database.getKeys(range)];
    if (keys.length === 0) return true;
    const writes = new Writes();
    for (const key of keys) writes.delete(database, Buffer.from(key));
    await work.commit(writes);
    return keys.length < REMOVED_PER_STEP;
  });
}

/** The hash of addresses; its key is made for the first run. */
export async function directoryHash(work: DirectoryWork): Promise<HalfSipHash> {
  const { meta } = work.environment;
  if (meta.getBinary(DIRECTORY_KEY) === undefined)
    await work.inTurn(async () => {
      const writes = new Writes();
      writes.put(meta, DIRECTORY_KEY, randomBytes(HASH_KEY_BYTES));
      await work.commit(writes);
    });
  return new HalfSipHash(Buffer.from(meta.getBinary(DIRECTORY_KEY) ?? Buffer.alloc(HASH_KEY_BYTES)));
}

export function databaseOf({ environment }: DirectoryWork, { level }: RunName): Database<Buffer, Buffer> {
  const database = environment.directory(level);
  if (database === undefined) throw new Error(`the directory has no level ${level}`);
  return database;
}

/** Whether no run stands behind this one, so that its records are the last. */
function isLast(database: Database<Buffer, Buffer>, run: number): boolean {
  const [last] = [...database.getKeys({ reverse: true, limit: 1 })];
  return last === undefined || last.readUInt32BE(0) <= run;
}
