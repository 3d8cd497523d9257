import { randomBytes } from 'node:crypto';
import type { Database } from 'lmdb';
import { Writes } from '../write/writes.ts';
import { DIRECTORY_KEY, missingDirectoryKey } from './directoryKeys.ts';
import { HASH_KEY_BYTES, HalfSipHash } from './halfSipHash.ts';
import { bucketKey, encodeRunHead, type RunName, runKey } from './run.ts';
import { segmentsPerRun } from './segmentStates.ts';
import { changeStates, inSteps, STEP_MS, type UpkeepContext } from './upkeepContext.ts';

export interface RunContent {
  /** Number of hash bits that select a bucket of the run. */
  readonly bits: number;
  /**
   * Returns the content of a bucket. Later reads must not overwrite the returned bytes. Called in ascending order of the
   * bucket numbers.
   */
  bucket(number: number): Buffer;
}

const REMOVED_PER_STEP = 500;

/**
 * Writes one run of the directory in several commits. Only the last commit makes the run valid, so an interrupted run
 * is never read. It is written again.
 */
export class RunWriter {
  readonly #work: UpkeepContext;
  readonly #name: RunName;
  readonly #isCurrent: () => boolean;

  /** `isCurrent` returns false if the data from which the run is built has changed. Writing then stops. */
  constructor(work: UpkeepContext, name: RunName, isCurrent: () => boolean) {
    this.#work = work;
    this.#name = name;
    this.#isCurrent = isCurrent;
  }

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
        bytes += record.length;
        put(bucketKey(run, bucket), record);
      }
      isWritten = bucket === 2 ** bits;
      if (isWritten) {
        writes.put(database, runKey(run), encodeRunHead(bits, bytes));
        this.#activate(writes);
      }
      await this.#work.commit(writes);
      return isWritten;
    });
    return isWritten;
  }

  #activate(writes: Writes): void {
    const { level, run } = this.#name;
    const segments = segmentsPerRun(level);
    changeStates(this.#work, writes, (states) => {
      for (let segment = run * segments; segment < (run + 1) * segments; segment++)
        states.assignRun(segment, level);
    });
  }
}

/** Removes all records of a run. Lookups must not use the run any more. */
export function removeRun(work: UpkeepContext, name: RunName): Promise<void> {
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

export interface DirectoryHash {
  readonly hash: HalfSipHash;
  /** Whether the key is still that of the index. A run with another key would hide its addresses. */
  readonly isCurrent: () => boolean;
}

/**
 * Returns the directory's hash function for addresses. Creates its secret key if the index has neither a key nor runs.
 * Throws DamagedIndexError if the key of the runs is missing.
 */
export async function directoryHash(work: UpkeepContext): Promise<DirectoryHash> {
  const { environment } = work;
  const stored = (): Buffer | undefined => {
    const states = work.state().segmentStates();
    const key = environment.read(environment.meta, DIRECTORY_KEY);
    if (key === undefined && states.hasRuns()) throw environment.noted(missingDirectoryKey());
    return key && Buffer.from(key);
  };
  let key = stored();
  if (key === undefined)
    await work.runExclusive(async () => {
      const writes = new Writes();
      key = stored() ?? randomBytes(HASH_KEY_BYTES);
      writes.put(environment.meta, DIRECTORY_KEY, key);
      await work.commit(writes);
    });
  const used = key ?? Buffer.alloc(HASH_KEY_BYTES);
  return { hash: new HalfSipHash(used), isCurrent: () => stored()?.equals(used) === true };
}

const databaseOf = ({ environment }: UpkeepContext, { level }: RunName): Database<Buffer, Buffer> =>
  environment.directory(level);

/** Whether no run in the database has a higher number, so that the records of this run can be appended. */
function isLast(database: Database<Buffer, Buffer>, run: number): boolean {
  const [last] = [...database.getKeys({ reverse: true, limit: 1 })];
  return last === undefined || last.readUInt32BE(0) <= run;
}
