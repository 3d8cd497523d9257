import { createHash } from 'node:crypto';
import type { Database, RootDatabase } from 'lmdb';
import { SerialQueue } from '../../../../platform/serialQueue/index.ts';
import type { StoreFile } from '../../../../platform/storeFile/index.ts';
import type { Anchor, AnswerStore } from '../../../gateway/index.ts';

/** Answers are gathered this long and written in one commit: a commit costs a flush of the disk. */
const WRITE_INTERVAL_MS = 200;
/** Gathered answers above this are dropped: they can be asked for again, memory cannot. */
const MAX_WAITING_BYTES = 32 * 1024 * 1024;
/** What an answer costs besides its bytes: its key twice, its size, and the tree's share. */
const ENTRY_OVERHEAD_BYTES = 200;
/** LMDB's pages are not full after deletions: the bound is on what is kept, and the file is somewhat larger. */
const USAGE = 'usage';

interface Usage {
  readonly bytes: number;
  /** The next answer's number; answers are dropped in the order of their numbers. */
  readonly next: number;
}

/** An answer's key and size, under its number. */
type Age = readonly [key: Buffer, bytes: number];

/** The environment of the gateway, and its file. */
export interface GatewayFile {
  readonly root: RootDatabase;
  readonly file: StoreFile;
}

/** Final answers in LMDB, the oldest dropped beyond a bound of bytes. */
export class GatewayAnswers implements AnswerStore {
  readonly #root: RootDatabase;
  readonly #file: StoreFile;
  readonly #answers: Database<Buffer, Buffer>;
  readonly #ages: Database<Age, number>;
  readonly #state: Database<Usage, string>;
  readonly #anchors: Database<Anchor, string>;
  readonly #maxBytes: number;
  readonly #waiting = new Map<string, Uint8Array>();
  #waitingBytes = 0;
  #timer: NodeJS.Timeout | undefined;
  readonly #writes = new SerialQueue();

  constructor({ root, file }: GatewayFile, maxBytes: number) {
    this.#root = root;
    this.#file = file;
    this.#maxBytes = maxBytes;
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
    if (this.#waiting.has(key) || this.#waitingBytes + answer.length > MAX_WAITING_BYTES) return;
    this.#waiting.set(key, answer);
    this.#waitingBytes += answer.length;
    this.#timer ??= setTimeout(() => void this.flush(), WRITE_INTERVAL_MS);
  }

  anchor(network: string): Anchor | undefined {
    return this.#anchors.get(network);
  }

  setAnchor(network: string, anchor: Anchor): void {
    // Kept at the next try where it cannot be: it moves on with the chain.
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

  /** Writes what waits; resolves when it is written or given up. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#waiting.size === 0) return this.#writes.idle();
    const batch = [...this.#waiting];
    try {
      const write = () => this.#root.transaction(() => this.#write(batch));
      await this.#writes.run(() => this.#file.commit(write));
    } catch {
      // A full disk costs the cache its answers, and nobody else anything.
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

/** LMDB's keys are short; 128 bits of a hash do not meet by chance. */
const shortKey = (key: string): Buffer => createHash('sha256').update(key).digest().subarray(0, 16);
