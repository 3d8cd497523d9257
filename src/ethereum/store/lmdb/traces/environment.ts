import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Database, open, type RootDatabase } from 'lmdb';
import {
  checkStoreFormat,
  DATA_FILE,
  inOneCommit,
  NO_TURN_BATCHES,
  PendingUpgrade,
  StoreFile,
  type UpgradeStep,
} from '../../../../platform/storeFile/index.ts';
import { prepareDirectory } from './directory/prepareDirectory.ts';
import { MAX_LEVEL } from './directory/segmentStates.ts';
import { uint32Key } from './keys.ts';
import { Writes } from './writes.ts';

/** What keys and records are laid out like, and how those of older versions are brought to it. */
export interface TraceFormat {
  readonly version: number;
  /** One step for an environment; its cursor is the number of a block. */
  readonly upgrade: (environment: TraceEnvironment) => UpgradeStep;
}

/**
 * keys.ts, records.ts and directory/run.ts. The second has attributes and a directory, the third another directory: an older index is
 * answered from without them, and whoever writes adds them as it does to any segment (directory/upkeep.ts), so nothing else is to be
 * upgraded.
 */
const FORMAT: TraceFormat = { version: 3, upgrade: () => () => undefined };

/** Values below this are not worth compressing. */
const COMPRESSION_THRESHOLD_BYTES = 100;

/** Pages of 8 KiB hold chunks with less waste than LMDB's usual 4 KiB: measured, a tenth less on disk. */
const PAGE_BYTES = 8192;

/**
 * Address space for the file, of which only what is read is in memory. Where it has to be mapped anew because it grew, the
 * old mapping stays beside the new one, and the same pages count twice: measured, 100 MB after the first 800 blocks.
 */
const MAP_BYTES = 2 ** 40;

/** A dictionary serves 128 segments, so a chain of 24 million blocks has fewer than 200. */
const MAX_DICTIONARIES = 2000;

/** The number that stands for no dictionary. */
export const NO_DICTIONARY = 0;

export interface EnvironmentOptions {
  readonly readOnly?: boolean;
  /** It is being verified, and may be a copy. */
  readonly isVerified?: boolean;
  /** Left out: the one that this program writes. */
  readonly format?: TraceFormat | undefined;
}

/** There is nothing to read: the folder holds no index, or one that nothing was written to yet. */
export class NoIndexError extends Error {
  override readonly name = 'NoIndexError';

  constructor(path: string) {
    super(`${path} holds no index of traces`);
  }
}

/** What lmdb has and its types leave out. */
interface LmdbReading {
  /** Begins a read transaction where there is none, which lmdb else does with the first read. */
  ensureReadTxn(): void;
  /** Told by the database whose read has begun one. */
  on(event: 'begin-transaction', begun: () => void): void;
}

interface OpenedFile {
  readonly root: RootDatabase;
  readonly file: StoreFile;
  readonly isNew: boolean;
}

/**
 * The traces' LMDB environment: one file, one writer (the process that holds the data folder's lock), and readers, also
 * in other processes, that see one commit each.
 * Databases are flat maps of bytes; what they hold is in keys.ts and records.ts.
 */
export class TraceEnvironment {
  readonly root: RootDatabase;
  /** Name to bytes: chain, head, finalized, state, unmerged, dictionaries by `dictionary-N`. */
  readonly meta: Database<Buffer, Buffer>;
  /** Block number to its record. */
  readonly blocks: Database<Buffer, Buffer>;
  /** Segment, side, term and page number to positions. */
  readonly postings: Database<Buffer, Buffer>;
  /** Segment to its dictionary and the number of traces of each of its blocks. */
  readonly segments: Database<Buffer, Buffer>;
  /** Block number to the attributes of its traces, 16 bits each. Undefined only where an older index is opened to read only. */
  readonly attributes: Database<Buffer, Buffer> | undefined;
  /** By level: runs of the directory of addresses. */
  readonly #directory: readonly (Database<Buffer, Buffer> | undefined)[];
  /** By dictionary: block number and chunk number to a chunk of traces, compressed with LZ4. */
  readonly #chunks = new Map<number, Database<Buffer, Buffer>>();

  /** What older versions wrote, where some of it is left; undefined where it is only read. */
  readonly upgrade: PendingUpgrade | undefined;
  readonly #path: string;
  readonly #file: StoreFile;
  readonly #isReadOnly: boolean;
  #snapshots = 0;

  /** Opens the environment in the folder `path`, which is made where it is missing; to read only, NoIndexError there. */
  static open(path: string, options: EnvironmentOptions = {}): TraceEnvironment {
    const { readOnly = false, isVerified = false } = options;
    const isNew = !existsSync(join(path, DATA_FILE));
    if (readOnly && isNew) throw new NoIndexError(path);
    const file = new StoreFile(path, { isVerified });
    return file.opening(() => {
      const root = open({
        path,
        maxDbs: MAX_DICTIONARIES,
        pageSize: PAGE_BYTES,
        mapSize: MAP_BYTES,
        keyEncoding: 'binary',
        encoding: 'binary',
        readOnly,
        ...NO_TURN_BATCHES,
      });
      file.opened({ readOnly });
      const openAll = () => new TraceEnvironment({ root, file, isNew }, { path, ...options });
      if (readOnly) return openAll();
      return inOneCommit(root, () => {
        const environment = openAll();
        prepareDirectory(environment);
        return environment;
      });
    });
  }

  private constructor(
    { root, file, isNew }: OpenedFile,
    { path, readOnly = false, format = FORMAT }: EnvironmentOptions & { readonly path: string },
  ) {
    this.root = root;
    this.#file = file;
    this.#path = path;
    this.#isReadOnly = readOnly;
    this.#countSnapshots(root);
    const database = this.#checkFormat(format, readOnly ? undefined : { isNew });
    this.meta = this.#map('meta');
    this.blocks = this.#map('blocks');
    this.postings = this.#map('postings');
    this.segments = this.#map('segments', {});
    this.attributes = this.#open('attributes');
    this.#directory = Array.from({ length: MAX_LEVEL + 1 }, (_, level) => this.#open(`directory-${level}`));
    this.openDictionaries();
    this.upgrade = readOnly ? undefined : new PendingUpgrade(database, format.upgrade(this));
  }

  /**
   * Of a reader: changes with each commit that is read of, and now and then without one. What was looked up is good as long as it stays.
   * Undefined where this process writes: within a transaction of its own it reads what that has written so far.
   */
  get snapshot(): number | undefined {
    if (!this.#isReadOnly) return undefined;
    (this.root as unknown as LmdbReading).ensureReadTxn();
    return this.#snapshots;
  }

  #countSnapshots(database: object): void {
    if (this.#isReadOnly) (database as LmdbReading).on('begin-transaction', () => this.#snapshots++);
  }

  /** Throws StoreGoneError where the file that was opened is no longer the one at its path. */
  assertInPlace(): void {
    this.#file.assertInPlace();
  }

  /** Writes in one transaction. */
  async commit(write: () => void): Promise<void> {
    await this.#file.commit(() => this.root.batch(write));
  }

  async close(): Promise<void> {
    await this.root.close();
    await this.#file.close();
  }

  #checkFormat({ version }: TraceFormat, write: { isNew: boolean } | undefined): Database<number, string> {
    const options = { name: 'format', encoding: 'json', keyEncoding: 'ordered-binary' } as const;
    // Its types leave out that a database that is missing cannot be opened to read only.
    const database: Database<number, string> | undefined = this.root.openDB<number, string>(options);
    checkStoreFormat({ store: 'traces', current: version, upgrade: 'inSteps' }, database, write);
    return database;
  }

  /** Opens the dictionaries that were added since, by whoever writes. */
  openDictionaries(): void {
    while (this.#chunks.size <= this.#newestDictionary()) {
      const number = this.#chunks.size;
      this.#chunks.set(number, this.#mapOfChunks(number, this.#dictionary(number)));
      // A read transaction sees only databases that were opened before it.
      this.root.resetReadTxn();
    }
  }

  #newestDictionary(): number {
    return this.meta.getBinary(NEWEST_DICTIONARY_KEY)?.readUInt32BE(0) ?? NO_DICTIONARY;
  }

  /** The chunks of the segments that have a dictionary, by its number. */
  chunks(dictionaryNumber: number): Database<Buffer, Buffer> {
    const database = this.#chunks.get(dictionaryNumber);
    if (database === undefined)
      throw new Error(`the index is damaged: dictionary ${dictionaryNumber} is missing`);
    return database;
  }

  /** The runs of a level. */
  directory(level: number): Database<Buffer, Buffer> | undefined {
    return this.#directory[level];
  }

  /** Keeps a new dictionary, made for the blocks from a segment on. It is on disk before a chunk needs it. */
  async addDictionary(number: number, bytes: Buffer, madeForSegment: number): Promise<void> {
    // First, as a commit of its own: whoever reads beside this opens them once they know of the dictionary.
    const chunks = await this.#file.commit(async () => this.#mapOfChunks(number, bytes));
    const writes = new Writes();
    writes.put(this.meta, dictionaryKey(number), bytes);
    writes.put(
      this.meta,
      NEWEST_DICTIONARY_KEY,
      Buffer.concat([uint32Key(number), uint32Key(madeForSegment)]),
    );
    await this.commit(() => writes.carryOut());
    await this.root.flushed;
    this.#chunks.set(number, chunks);
  }

  #mapOfChunks(number: number, dictionary: Buffer | undefined): Database<Buffer, Buffer> {
    return this.#map(`chunks-${number}`, dictionary === undefined ? {} : { dictionary });
  }

  #dictionary(number: number): Buffer | undefined {
    if (number === NO_DICTIONARY) return undefined;
    const bytes = this.meta.getBinary(dictionaryKey(number));
    if (bytes === undefined) throw new Error(`the index is damaged: dictionary ${number} is missing`);
    return bytes;
  }

  #map(name: string, compression?: { dictionary?: Buffer }): Database<Buffer, Buffer> {
    const database = this.#open(name, compression);
    if (database === undefined) throw new NoIndexError(this.#path);
    return database;
  }

  /** Its types leave out that a database that is missing cannot be opened to read only. */
  #open(name: string, compression?: { dictionary?: Buffer }): Database<Buffer, Buffer> | undefined {
    const database: Database<Buffer, Buffer> | undefined = this.root.openDB<Buffer, Buffer>({
      name,
      keyEncoding: 'binary',
      encoding: 'binary',
      ...(compression && { compression: { threshold: COMPRESSION_THRESHOLD_BYTES, ...compression } }),
    });
    if (database !== undefined) this.#countSnapshots(database);
    return database;
  }
}

/** Where the number of the newest dictionary and the segment that it was made for are kept. */
export const NEWEST_DICTIONARY_KEY = Buffer.from('dictionary');

/** Where the version of the index's state is kept. */
export const STATE_KEY = Buffer.from('state');

/** Where it is kept which blocks are not in the posting lists yet. */
export const UNMERGED_KEY = Buffer.from('unmerged');

const dictionaryKey = (number: number): Buffer => Buffer.from(`dictionary-${number}`);
