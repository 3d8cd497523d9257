// `promises` of node:fs is loaded at its first use, not at startup.

import { constants, promises as files } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { failureReporter } from '../background/index.ts';
import type { Log } from '../logging/index.ts';

export interface LineFileOptions {
  readonly path: string;
  /** Maximum bytes of the lines that are not written yet. Default: 4 MiB, about 20,000 lines. */
  readonly maxWaitingBytes?: number;
  readonly closeTimeoutMs?: number;
}

const MAX_WAITING_BYTES = 4 * 1024 * 1024;
const CLOSE_TIMEOUT_MS = 2_000;
/** Lines are collected for this time, so that one write covers many of them. */
const GATHER_MS = 100;
/** Interval of checks whether the file was moved, for example by logrotate. */
const LOOK_EVERY_MS = 1_000;
/** Delay before a write to a full pipe is retried. */
const FULL_PIPE_MS = 50;
const TELL_EVERY_MS = 10_000;
const MODE = 0o640;
/** O_NONBLOCK is set because the path may be a pipe, and a pipe without a reader must not block a thread. */
const FLAGS = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NONBLOCK;

/**
 * Appends lines to a file without blocking. If the disk is full, slow or missing, lines beyond a bounded buffer are
 * dropped, counted and reported. Reopens the path after the file was moved.
 */
export class LineFile {
  readonly #path: string;
  readonly #maxWaitingBytes: number;
  readonly #closeTimeoutMs: number;
  readonly #log: Log;
  #file: FileHandle;
  #waiting: string[] = [];
  /** Bytes of the waiting lines and of the lines that are being written. */
  #waitingBytes = 0;
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> | undefined;
  /** Whether the last write failed within a line, so that the next one must begin with a line break. */
  #isTorn = false;
  #lookedAtMs = performance.now();
  #isClosed = false;
  #dropped = 0;
  #unreported = 0;
  #reportedAtMs = Number.NEGATIVE_INFINITY;

  private constructor(file: FileHandle, { path, ...limits }: LineFileOptions, log: Log) {
    this.#file = file;
    this.#path = path;
    this.#maxWaitingBytes = limits.maxWaitingBytes ?? MAX_WAITING_BYTES;
    this.#closeTimeoutMs = limits.closeTimeoutMs ?? CLOSE_TIMEOUT_MS;
    this.#log = log;
  }

  /** Opens the file for appending. Rejects if it cannot be opened. */
  static async open(options: LineFileOptions, log: Log): Promise<LineFile> {
    return new LineFile(await files.open(options.path, FLAGS, MODE), options, log);
  }

  get dropped(): number {
    return this.#dropped;
  }

  /** Adds a line to the buffer. `line` must be ASCII and include its line break. */
  write(line: string): void {
    if (this.#isClosed || this.#waitingBytes + line.length > this.#maxWaitingBytes)
      return this.#drop(1, 'write buffer full');
    this.#waiting.push(line);
    this.#waitingBytes += line.length;
    if (this.#writing !== undefined || this.#timer !== undefined) return;
    this.#timer = setTimeout(() => this.#write(), GATHER_MS).unref();
  }

  /** Writes the remaining lines and closes the file, within the timeout. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    if (this.#writing === undefined) this.#write();
    this.#isClosed = true;
    const timeout = pause(this.#closeTimeoutMs, undefined, { ref: false });
    await Promise.race([this.#writing, timeout]);
    if (this.#writing === undefined) await this.#file.close().catch(() => undefined);
    this.#reportDropped('not written before the stop');
  }

  #write(): void {
    this.#timer = undefined;
    this.#writing = this.#writeAll()
      .catch(failureReporter('access log'))
      .finally(() => {
        this.#writing = undefined;
      });
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const lines = this.#waiting;
      this.#waiting = [];
      const bytes = Buffer.from(lines.join(''), 'latin1');
      try {
        await this.#reopenIfMoved();
        await this.#append(bytes);
        if (this.#unreported > 0) this.#reportDropped('writing recovered');
      } catch (error) {
        this.#drop(lines.length, reasonOf(error));
      } finally {
        this.#waitingBytes -= bytes.length;
      }
    }
  }

  async #append(lines: Buffer): Promise<void> {
    const bytes = this.#isTorn ? Buffer.concat([NEW_LINE, lines]) : lines;
    this.#isTorn = false;
    for (let at = 0; at < bytes.length; ) {
      try {
        const { bytesWritten } = await this.#file.write(bytes, at);
        at += bytesWritten;
      } catch (error) {
        this.#isTorn = at > 0 && bytes[at - 1] !== NEW_LINE[0];
        if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
        await pause(FULL_PIPE_MS, undefined, { ref: false });
        if (this.#isClosed) throw error;
      }
    }
    this.#isTorn = false;
  }

  async #reopenIfMoved(): Promise<void> {
    const nowMs = performance.now();
    if (nowMs - this.#lookedAtMs < LOOK_EVERY_MS) return;
    this.#lookedAtMs = nowMs;
    const [own, there] = await Promise.all([
      this.#file.stat(),
      files.stat(this.#path).catch(() => undefined),
    ]);
    if (there?.ino === own.ino && there.dev === own.dev) return;
    const file = await files.open(this.#path, FLAGS, MODE).catch((error: unknown) => {
      this.#lookedAtMs = Number.NEGATIVE_INFINITY;
      throw error;
    });
    const before = this.#file;
    this.#file = file;
    this.#isTorn = false;
    await before.close().catch(() => undefined);
  }

  #drop(lines: number, reason: string): void {
    this.#dropped += lines;
    this.#unreported += lines;
    if (performance.now() - this.#reportedAtMs >= TELL_EVERY_MS) this.#reportDropped(reason);
  }

  #reportDropped(reason: string): void {
    if (this.#unreported === 0) return;
    this.#log.warn({ lines: this.#unreported, reason }, 'access log lines dropped');
    this.#unreported = 0;
    this.#reportedAtMs = performance.now();
  }
}

const NEW_LINE = Buffer.from('\n');

const reasonOf = (error: unknown): string =>
  error instanceof Error ? ((error as NodeJS.ErrnoException).code ?? error.message) : String(error);
