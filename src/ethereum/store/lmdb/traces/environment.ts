import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Database, open, type RangeOptions, type RootDatabase } from 'lmdb';
import {
  checkStoreFormat,
  DATA_FILE,
  inOneCommit,
  StoreFile,
  WITHOUT_EVENT_TURN_BATCHING,
} from '../../../../platform/storeFile/index.ts';
import type { DamagedPart } from '../../../traces/index.ts';
import { decodeRecord, readError, uncheckedValue } from './checksum.ts';
import { DamagedIndexError } from './damagedIndexError.ts';
import { MAX_LEVEL } from './directory/segmentStates.ts';
import { uint32Key } from './keys.ts';
import { Writes } from './write/writes.ts';

/** Version of the layout in keys.ts, checksum.ts, records.ts and directory/run.ts. */
const FORMAT = 3;

/** Values of at least this size are compressed. */
const COMPRESSION_THRESHOLD_BYTES = 100;

/**
 * Size of a page in the file. Chunks waste less space in pages of 8 KiB than in LMDB's default of 4 KiB: the file is
 * a tenth smaller.
 */
const PAGE_BYTES = 8192;

/**
 * Address space that is reserved for the file. Only pages that are read use memory. If the file outgrew a smaller
 * reservation, it would be mapped a second time, and pages in both maps would use memory: 100 MB after 800 blocks
 * (measured).
 */
const MAP_BYTES = 2 ** 40;

/**
 * Maximum number of databases in the environment: one per dictionary, and a few others. A dictionary covers 128
 * segments, so a chain of 24 million blocks has fewer than 200.
 */
const MAX_DICTIONARIES = 2000;

/** Number that stands for "no dictionary". */
export const NO_DICTIONARY = 0;

export interface EnvironmentOptions {
  readonly readOnly?: boolean;
  /** Whether the environment is opened for verification. The file may then be a copy of the original. */
  readonly isVerified?: boolean;
  /** Called with the part of the index in which a read has found damage. */
  readonly onDamage?: ((part: DamagedPart) => void) | undefined;
}

/** Thrown if a folder has no trace index, or one that was never written to. */
export class NoIndexError extends Error {
  override readonly name = 'NoIndexError';

  constructor(path: string) {
    super(`${path} has no trace index`);
  }
}

/** Methods of lmdb that its type declarations lack. */
interface LmdbReading {
  /** Starts a read transaction if none is open. Without this call, lmdb starts it with the first read. */
  ensureReadTxn(): void;
  /** The database whose read has started a transaction emits this event. */
  on(event: 'begin-transaction', begun: () => void): void;
}

interface OpenedFile {
  readonly root: RootDatabase;
  readonly file: StoreFile;
}

/**
 * LMDB environment of the traces. The file has one writer: the process that holds the lock of the data folder.
 * Readers, also those in other processes, see one commit at a time. keys.ts and records.ts define keys and values.
 */
export class TraceEnvironment {
  readonly root: RootDatabase;
  /** Single values by name: chain, head, finalized, state, unmerged, unavailable, `dictionary-N` and a few others. */
  readonly meta: Database<Buffer, Buffer>;
  /** Block records (hash, parent, time and trace count) by block number. */
  readonly blocks: Database<Buffer, Buffer>;
  /** Positions by segment, side (where the term occurs: `from`, `to` or `transaction`), term and page number. */
  readonly postings: Database<Buffer, Buffer>;
  /** State of each segment: the number of its compression dictionary, and the trace count of each of its blocks. */
  readonly segments: Database<Buffer, Buffer>;
  /** Trace attributes by block number, 16 bits for each trace of the block. */
  readonly attributes: Database<Buffer, Buffer>;
  /** Ages and sizes of the blocks that were added on demand, by block number. */
  readonly onDemand: Database<Buffer, Buffer>;
  /** Numbers of the blocks that were added on demand, by age. */
  readonly onDemandAges: Database<Buffer, Buffer>;
  /** One database per level of the directory of addresses, with the runs of that level. */
  readonly #directory: readonly Database<Buffer, Buffer>[];
  /** One database per dictionary: chunks by block number and chunk number, compressed with LZ4. */
  readonly #chunks = new Map<number, Database<Buffer, Buffer>>();

  readonly path: string;
  readonly #file: StoreFile;
  readonly #isReadOnly: boolean;
  readonly #onDamage: ((part: DamagedPart) => void) | undefined;
  /** Parts of the index in which a read has found damage, by their JSON. */
  readonly damage = new Map<string, DamagedPart>();
  #snapshots = 0;

  /**
   * Opens or creates the environment in the folder `path`. Throws NoIndexError if `readOnly` is true and it does not
   * exist.
   */
  static open(path: string, options: EnvironmentOptions = {}): TraceEnvironment {
    const { readOnly = false, isVerified = false, onDamage } = options;
    if (readOnly && !existsSync(join(path, DATA_FILE))) throw new NoIndexError(path);
    const file = new StoreFile(path, { isVerified });
    return file.withOpen(() => {
      const root = open({
        path,
        maxDbs: MAX_DICTIONARIES,
        pageSize: PAGE_BYTES,
        mapSize: MAP_BYTES,
        keyEncoding: 'binary',
        encoding: 'binary',
        readOnly,
        ...WITHOUT_EVENT_TURN_BATCHING,
      });
      file.opened({ readOnly });
      const openAll = () => {
        checkStoreFormat(root, { store: 'traces', folder: path, format: FORMAT }, { readOnly });
        return new TraceEnvironment({ root, file }, { path, readOnly, onDamage });
      };
      return readOnly ? openAll() : inOneCommit(root, openAll);
    });
  }

  private constructor(
    { root, file }: OpenedFile,
    { path, readOnly = false, onDamage }: EnvironmentOptions & { readonly path: string },
  ) {
    this.#onDamage = onDamage;
    this.root = root;
    this.#file = file;
    this.path = path;
    this.#isReadOnly = readOnly;
    this.#countSnapshots(root);
    this.meta = this.#map('meta');
    this.blocks = this.#map('blocks');
    this.postings = this.#map('postings');
    this.segments = this.#map('segments', {});
    this.attributes = this.#map('attributes');
    this.onDemand = this.#map('on-demand');
    this.onDemandAges = this.#map('on-demand-ages');
    this.#directory = Array.from({ length: MAX_LEVEL + 1 }, (_, level) => this.#map(`directory-${level}`));
    this.openDictionaries();
  }

  /**
   * Number of the snapshot that a reader sees. The number changes with each commit that becomes visible, and
   * sometimes without one. Cached reads are valid while the number is unchanged. Undefined in the writing process,
   * whose transactions see their own uncommitted writes.
   */
  get snapshot(): number | undefined {
    if (!this.#isReadOnly) return undefined;
    (this.root as unknown as LmdbReading).ensureReadTxn();
    return this.#snapshots;
  }

  #countSnapshots(database: object): void {
    if (this.#isReadOnly) (database as LmdbReading).on('begin-transaction', () => this.#snapshots++);
  }

  /** Returns the value of a record. The next read may overwrite its bytes. Throws DamagedIndexError. */
  read(database: Database<Buffer, Buffer>, key: Buffer): Buffer | undefined {
    try {
      return readRecord(database, key);
    } catch (error) {
      throw this.noted(error);
    }
  }

  /** Yields the records of a range. Throws DamagedIndexError. */
  *range(database: Database<Buffer, Buffer>, range: RangeOptions): Generator<{ key: Buffer; value: Buffer }> {
    for (const { key, value } of database.getRange(range)) {
      try {
        yield { key, value: decodeRecord(nameOf(database), key, value) };
      } catch (error) {
        throw this.noted(error);
      }
    }
  }

  noteDamage(part: DamagedPart): void {
    this.damage.set(JSON.stringify(part), part);
    this.#onDamage?.(part);
  }

  /** Notes the damage that an error reports. Returns the error. */
  noted(error: unknown): unknown {
    if (error instanceof DamagedIndexError && error.part !== undefined) this.noteDamage(error.part);
    return error;
  }

  /** Throws StoreGoneError if another file, or none, is now at the path of the opened file. */
  assertInPlace(): void {
    this.#file.assertInPlace();
  }

  /** Runs `write` in one transaction. */
  async commit(write: () => void): Promise<void> {
    await this.#file.commit(() => this.root.batch(write));
  }

  /** Runs `write` in one transaction, before other processes can open the file. */
  commitAtOpen(write: () => void): void {
    this.#file.withOpen(() => inOneCommit(this.root, write));
  }

  async close(): Promise<void> {
    await this.#file.close(this.root);
  }

  /** Opens the databases of dictionaries that the writing process has added. Throws DamagedIndexError. */
  openDictionaries(): void {
    const newest = this.newestDictionary();
    while (this.#chunks.size <= newest) {
      const number = this.#chunks.size;
      this.#chunks.set(number, this.#mapOfChunks(number, this.#dictionary(number)));
      // A read transaction sees only databases that were opened before it began, so a new one must begin.
      this.root.resetReadTxn();
    }
  }

  /** Returns the number of the newest dictionary, also if the record of this number is damaged or missing. */
  newestDictionary(): number {
    const record = readIntact(this.meta, NEWEST_DICTIONARY_KEY);
    if (record !== undefined) return record.readUInt32BE(0);
    const names = [...this.meta.getKeys()].map((key) => Buffer.from(key).toString());
    return Math.max(NO_DICTIONARY, ...names.map((name) => dictionaryNumber(name) ?? NO_DICTIONARY));
  }

  /** Returns the number of the dictionary whose database has a chunk in a range of keys; undefined if none has. */
  dictionaryOfChunks(range: RangeOptions): number | undefined {
    for (const [number, chunks] of this.#chunks)
      if ([...chunks.getKeys({ ...range, limit: 1 })].length > 0) return number;
    return undefined;
  }

  chunks(dictionaryNumber: number): Database<Buffer, Buffer> {
    const database = this.#chunks.get(dictionaryNumber);
    if (database === undefined) throw new DamagedIndexError(`dictionary ${dictionaryNumber} is missing`);
    return database;
  }

  directory(level: number): Database<Buffer, Buffer> {
    const database = this.#directory[level];
    if (database === undefined) throw new Error(`the directory has no level ${level}`);
    return database;
  }

  /** Stores a dictionary for the segments from `madeForSegment` on. Resolves when the dictionary is on disk. */
  async addDictionary(number: number, bytes: Buffer, madeForSegment: number): Promise<void> {
    // The database of chunks is created first, in its own commit, because readers open it as soon as they see the
    // dictionary.
    const chunks = await this.#file.commit(async () => this.#mapOfChunks(number, bytes));
    const writes = new Writes();
    writes.put(this.meta, dictionaryKey(number), bytes);
    writes.put(this.meta, NEWEST_DICTIONARY_KEY, encodeNewestDictionary(number, madeForSegment));
    await this.commit(() => writes.execute());
    await this.root.flushed;
    this.#chunks.set(number, chunks);
  }

  #mapOfChunks(number: number, dictionary: Buffer | undefined): Database<Buffer, Buffer> {
    return this.#map(`chunks-${number}`, dictionary === undefined ? {} : { dictionary });
  }

  /** Returns the bytes of a dictionary, also if they are damaged: the checksums of chunks show which chunks need them. */
  #dictionary(number: number): Buffer | undefined {
    if (number === NO_DICTIONARY) return undefined;
    const record = this.meta.getBinary(dictionaryKey(number));
    if (record === undefined)
      throw new DamagedIndexError(
        `record ${dictionaryKey(number)} of meta is missing: ${lastResort(this.path)}`,
      );
    return uncheckedValue(record);
  }

  /**
   * Opens or creates a database. Throws NoIndexError if it is missing and the environment is read-only: `openDB` then
   * returns undefined, which lmdb's types do not declare.
   */
  #map(name: string, compression?: { dictionary?: Buffer }): Database<Buffer, Buffer> {
    const database: Database<Buffer, Buffer> | undefined = this.root.openDB<Buffer, Buffer>({
      name,
      keyEncoding: 'binary',
      encoding: 'binary',
      ...(compression && { compression: { threshold: COMPRESSION_THRESHOLD_BYTES, ...compression } }),
    });
    if (database === undefined) throw new NoIndexError(this.path);
    this.#countSnapshots(database);
    return database;
  }
}

/**
 * Returns the value of a record; undefined if the record is missing or damaged. The next read may overwrite its bytes.
 */
export function readIntact(database: Database<Buffer, Buffer>, key: Buffer): Buffer | undefined {
  try {
    return readRecord(database, key);
  } catch (error) {
    if (error instanceof DamagedIndexError) return undefined;
    throw error;
  }
}

function readRecord(database: Database<Buffer, Buffer>, key: Buffer): Buffer | undefined {
  const name = nameOf(database);
  let record: Buffer | undefined;
  try {
    record = database.getBinaryFast(key);
  } catch (error) {
    throw readError(name, key, error);
  }
  return record && decodeRecord(name, key, record);
}

/** Returns the name of a database, which lmdb's types declare only for the options. */
const nameOf = (database: Database<Buffer, Buffer>): string => (database as unknown as { name: string }).name;

export const NEWEST_DICTIONARY_KEY = Buffer.from('dictionary');

export const STATE_KEY = Buffer.from('state');

export const UNAVAILABLE_KEY = Buffer.from('unavailable');

/** Key of the record with the total size of the on-demand blocks, and the age of the next one. */
export const ON_DEMAND_KEY = Buffer.from('on-demand');

/** Key of the record that lists the blocks whose postings are not all in the posting lists on disk. */
export const UNMERGED_KEY = Buffer.from('unmerged');

export const encodeNewestDictionary = (number: number, madeForSegment: number): Buffer =>
  Buffer.concat([uint32Key(number), uint32Key(madeForSegment)]);

const dictionaryKey = (number: number): Buffer => Buffer.from(`dictionary-${number}`);

/** Returns the number of the dictionary that a record of the database `meta` contains; undefined for other records. */
export function dictionaryNumber(name: string): number | undefined {
  const digits = /^dictionary-(\d{1,4})$/.exec(name)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/** Returns what to do if a record cannot be derived from others. */
export const lastResort = (path: string): string => `restore a backup, or remove the folder ${path}`;
