import { createHash } from 'node:crypto';
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Log } from '../../../../platform/logging/index.ts';
import { readRegular } from '../../../../platform/regularFile/index.ts';
import { SerialQueue } from '../../../../platform/serialQueue/index.ts';

/** Times of a snapshot, in milliseconds of the wall clock. */
export interface SnapshotTimes {
  /** Last time when the content was equal to the database. */
  readonly comparedMs: number;
  /** Last time when the server that writes the snapshot was running. */
  readonly aliveMs: number;
}

export interface Snapshot extends SnapshotTimes {
  readonly content: unknown;
}

export interface SnapshotFileOptions {
  readonly path: string;
  /** Text that identifies the database. A snapshot of another database is ignored. */
  readonly database: string;
  readonly log: Log;
}

const FORMAT = 'floodgate-snapshot-1';
const HEADER = new RegExp(`^${FORMAT} ([0-9a-f]{64}) ([0-9a-f]{64}) (\\d{13}) (\\d{13})\\n`);
/** Offset of the two times, which are the only part of the file that is overwritten in place. */
const TIMES_AT = FORMAT.length + 1 + 2 * 65;
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const textOf = ({ comparedMs, aliveMs }: SnapshotTimes): string =>
  [comparedMs, aliveMs].map((ms) => String(Math.max(0, Math.round(ms))).padStart(13, '0')).join(' ');

/**
 * File with the last known state of a database, for a start while the database is away. It has the mode 0600, a
 * checksum, and is replaced atomically.
 */
export class SnapshotFile {
  readonly #path: string;
  readonly #database: string;
  readonly #log: Log;
  readonly #queue = new SerialQueue();
  #isWritten = false;
  #hasFailed = false;

  constructor({ path, database, log }: SnapshotFileOptions) {
    this.#path = path;
    this.#database = sha256(database);
    this.#log = log;
  }

  /** Returns the snapshot. Returns undefined, and logs why, if it is damaged or belongs to another database. */
  read(): Snapshot | undefined {
    try {
      return this.#parsed(readRegular(this.#path));
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
      const reason = error instanceof Error ? error.message : String(error);
      this.#log.error({ file: this.#path, reason }, 'snapshot of the rules database ignored');
      return undefined;
    }
  }

  /**
   * Replaces the snapshot. Resolves when it is on the disk. If that fails, removes the old snapshot, because it may
   * contain a key that was revoked since.
   */
  write(content: unknown, times: SnapshotTimes): Promise<void> {
    return this.#queue.run(async () => {
      try {
        await this.#replace(content, times);
        this.#isWritten = true;
        this.#hasFailed = false;
      } catch (error) {
        this.#isWritten = false;
        rmSync(this.#path, { force: true });
        const reason = error instanceof Error ? error.message : String(error);
        if (!this.#hasFailed)
          this.#log.error({ file: this.#path, reason }, 'cannot write the snapshot of the rules database');
        this.#hasFailed = true;
      }
    });
  }

  /** Leaves the file unchanged until it is written again, because its content is not in use. */
  ignore(): void {
    this.#isWritten = false;
  }

  /** Writes the times into the file that this process wrote or read last. */
  touch(times: SnapshotTimes): Promise<void> {
    return this.#queue.run(() => {
      if (!this.#isWritten) return;
      const descriptor = openSync(this.#path, 'r+');
      try {
        writeSync(descriptor, textOf(times), TIMES_AT);
      } finally {
        closeSync(descriptor);
      }
    });
  }

  #parsed(text: string): Snapshot {
    const [header, database, digest, comparedMs, aliveMs] = HEADER.exec(text) ?? [];
    const json = text.slice(header?.length);
    if (header === undefined || sha256(json) !== digest)
      throw new Error('the file is damaged or has another format; it is replaced when the database is back');
    if (database !== this.#database) throw new Error('the file is of another database');
    this.#isWritten = true;
    return { content: JSON.parse(json), comparedMs: Number(comparedMs), aliveMs: Number(aliveMs) };
  }

  async #replace(content: unknown, times: SnapshotTimes): Promise<void> {
    const json = JSON.stringify(content);
    const partial = `${this.#path}.partial`;
    rmSync(partial, { force: true });
    const file = await open(partial, 'wx', 0o600);
    try {
      await file.writeFile(`${FORMAT} ${this.#database} ${sha256(json)} ${textOf(times)}\n${json}`);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(partial, this.#path);
    // Without this, a power failure could undo the rename and restore the old snapshot.
    const folder = await open(dirname(this.#path), 'r');
    await folder.sync().finally(() => folder.close());
  }
}
