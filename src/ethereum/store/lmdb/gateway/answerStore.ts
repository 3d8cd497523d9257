import { createHash } from 'node:crypto';
import type { Database, RootDatabase } from 'lmdb';
import { inBackground } from '../../../../platform/background/index.ts';
import { SerialQueue } from '../../../../platform/serialQueue/index.ts';
import type { StoreFile } from '../../../../platform/storeFile/index.ts';
import type { Anchor, AnswerStore } from '../../../gateway/index.ts';

/** New results are collected for this time, then written in one commit, because each commit costs a disk flush. */
const WRITE_INTERVAL_MS = 200;
/**
 * Maximum total size of results that are not written yet. Above it, new results are not cached, because a node can be
 * asked again.
 */
const MAX_WAITING_BYTES = 32 * 1024 * 1024;
/** Disk space that one entry needs besides its result: for its key twice, its size, and its share of the tree. */
const ENTRY_OVERHEAD_BYTES = 200;
/**
 * Key of the record with the total size of all entries. The file is larger, because deletions leave pages partly
 * empty.
 */
const USAGE = 'usage';

interface Usage {
  readonly bytes: number;
  /** Number that the next new entry gets. Entries with the lowest numbers are evicted first. */
  readonly next: number;
}

/** Key and size in bytes of an entry. The record is stored under the entry's number. */
type Age = readonly [key: Buffer, bytes: number];

export interface GatewayFile {
  readonly root: RootDatabase;
  readonly file: StoreFile;
}

/** Cache of final results in LMDB. If its entries exceed a number of bytes, the oldest entries are evicted. */
export class LmdbResultStore implements AnswerStore {
  readonly #root: RootDatabase;
  readonly #file: StoreFile;
  readonly #answers: Database<Buffer, Buffer>;
  readonly #ages: Database<Age, number>;
  readonly #state: Database<Usage, string>;
  readonly #anchors: Database<Anchor, string>;
  readonly #maxBytes: number;
  readonly #storesAnswers: () => boolean;
  readonly #waiting = new Map<string, Uint8Array>();
  #waitingBytes = 0;
  #timer: NodeJS.Timeout | undefined;
  readonly #writes = new SerialQueue();

  constructor({ root, file }: GatewayFile, maxBytes: number, storesAnswers: () => boolean) {
    this.#root = root;
    this.#file = file;
    this.#maxBytes = maxBytes;
    this.#storesAnswers = storesAnswers;
    this.#answers = root.openDB({
      name: 'answers',
      keyEncoding: 'binary',
      encoding: 'binary',
      compression: true,
    });
    this.#ages = root.openDB({ name: 'answerAges' });
    this.#state = root.openDB({ name: 'answerState', encoding: 'json' });
    this.#anchors = root.openDB({ name: 'answerAnchors', encoding: 'json' });
  }

  get(key: string): Uint8Array | undefined {
    return this.#waiting.get(key) ?? this.#answers.get(shortKey(key));
  }

  put(key: string, answer: Uint8Array): void {
    if (
      !this.#storesAnswers() ||
      this.#waiting.has(key) ||
      this.#waitingBytes + answer.length > MAX_WAITING_BYTES
    )
      return;
    this.#waiting.set(key, answer);
    this.#waitingBytes += answer.length;
    this.#timer ??= setTimeout(() => inBackground('cached answers', () => this.flush()), WRITE_INTERVAL_MS);
  }

  anchor(network: string): Anchor | undefined {
    return this.#anchors.get(network);
  }

  setAnchor(network: string, anchor: Anchor): void {
    // A failed write is ignored, because a newer anchor is written as the chain grows.
    this.#file.commit(() => this.#anchors.put(network, anchor)).catch(() => undefined);
  }

  async clear(): Promise<void> {
    this.#waiting.clear();
    this.#waitingBytes = 0;
    const clear = (): void => {
      for (const database of [this.#answers, this.#ages, this.#state, this.#anchors]) database.clearSync();
    };
    await this.#file.commit(() => this.#root.transaction(clear));
  }

  /** Writes the results that are not written yet. Resolves when they are written or the write has failed. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#waiting.size === 0) return this.#writes.idle();
    const batch = [...this.#waiting];
    try {
      const write = () => this.#root.transaction(() => this.#write(batch));
      await this.#writes.run(() => this.#file.commit(write));
    } catch {
      // If the write fails, as on a full disk, only these entries of the cache are lost.
    } finally {
      for (const [key, answer] of batch) if (this.#waiting.delete(key)) this.#waitingBytes -= answer.length;
    }
  }

  #write(batch: readonly (readonly [string, Uint8Array])[]): void {
    let { bytes, next } = this.#state.get(USAGE) ?? { bytes: 0, next: 0 };
    for (const [text, answer] of batch) {
      const key = shortKey(text);
      if (this.#answers.doesExist(key)) continue;
      const cost = answer.length + ENTRY_OVERHEAD_BYTES;
      if (cost > this.#maxBytes) continue;
      this.#answers.putSync(key, Buffer.from(answer));
      this.#ages.putSync(next++, [key, cost]);
      bytes += cost;
    }
    for (const { key: number, value } of this.#ages.getRange()) {
      if (bytes <= this.#maxBytes) break;
      const [key, cost] = value;
      this.#answers.removeSync(key);
      this.#ages.removeSync(number);
      bytes -= cost;
    }
    this.#state.putSync(USAGE, { bytes, next });
  }
}

/**
 * Shortens a cache key to 128 bits of its hash, because LMDB limits the size of keys. Such hashes do not collide by
 * chance.
 */
const shortKey = (key: string): Buffer => createHash('sha256').update(key).digest().subarray(0, 16);
