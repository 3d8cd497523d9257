// Node loads the promises for the first who uses them.
import { constants, promises as files } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import type { Log } from '../logging/index.ts';

export interface LineFileOptions {
  readonly path: string;
  /** Of lines that are not written yet. Left out: 4 MiB, some twenty thousand lines. */
  readonly maxWaitingBytes?: number;
  /** Of a stop: how long it waits for what is not written. */
  readonly closeTimeoutMs?: number;
}

const MAX_WAITING_BYTES = 4 * 1024 * 1024;
const CLOSE_TIMEOUT_MS = 2_000;
/** Lines are gathered for so long: one call to the system writes many. */
const GATHER_MS = 100;
/** Whether the file was moved away, as by logrotate, is looked at this often. */
const LOOK_EVERY_MS = 1_000;
/** A pipe whose reader is slow is tried again after so long. */
const FULL_PIPE_MS = 50;
/** Dropped lines are told this often. */
const TELL_EVERY_MS = 10_000;
const MODE = 0o640;
/** A pipe without a reader must not hold a thread up. */
const FLAGS = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NONBLOCK;

/**
 * Appends lines to a file, without whoever writes them ever waiting: what does not fit into a bounded memory because the disk
 * is full, slow or gone is dropped, counted and told. A file that was moved away is made anew.
 */
export class LineFile {
  readonly #path: string;
  readonly #maxWaitingBytes: number;
  readonly #closeTimeoutMs: number;
  readonly #log: Log;
  #file: FileHandle;
  #waiting: string[] = [];
  /** Of those, and of what is being written. */
  #waitingBytes = 0;
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> | undefined;
  /** The last write broke off within a line. */
  #isTorn = false;
  #lookedAtMs = performance.now();
  #isClosed = false;
  #dropped = 0;
  #untold = 0;
  #toldAtMs = Number.NEGATIVE_INFINITY;

  private constructor(file: FileHandle, { path, ...limits }: LineFileOptions, log: Log) {
    this.#file = file;
    this.#path = path;
    this.#maxWaitingBytes = limits.maxWaitingBytes ?? MAX_WAITING_BYTES;
    this.#closeTimeoutMs = limits.closeTimeoutMs ?? CLOSE_TIMEOUT_MS;
    this.#log = log;
  }

  /** Rejects where the file cannot be opened. */
  static async open(options: LineFileOptions, log: Log): Promise<LineFile> {
    return new LineFile(await files.open(options.path, FLAGS, MODE), options, log);
  }

  /** Lines that were dropped since the start. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Appends a line of ASCII characters, its end included. */
  write(line: string): void {
    if (this.#isClosed || this.#waitingBytes + line.length > this.#maxWaitingBytes)
      return this.#drop(1, 'they come faster than they can be written');
    this.#waiting.push(line);
    this.#waitingBytes += line.length;
    if (this.#writing !== undefined || this.#timer !== undefined) return;
    this.#timer = setTimeout(() => this.#write(), GATHER_MS).unref();
  }

  /** Writes what waits, for a bounded time, and closes the file. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    if (this.#writing === undefined) this.#write();
    this.#isClosed = true;
    const timeout = pause(this.#closeTimeoutMs, undefined, { ref: false });
    await Promise.race([this.#writing, timeout]);
    if (this.#writing === undefined) await this.#file.close().catch(() => undefined);
    this.#tell('they could not be written before the stop');
  }

  #write(): void {
    this.#timer = undefined;
    this.#writing = this.#writeAll().finally(() => {
      this.#writing = undefined;
    });
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const lines = this.#waiting;
      this.#waiting = [];
      const bytes = Buffer.from(lines.join(''), 'latin1');
      try {
        await this.#look();
        await this.#append(bytes);
        if (this.#untold > 0) this.#tell('they can be written again');
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

  /** Opens the file anew where there is another at its path by now, or none. */
  async #look(): Promise<void> {
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
    this.#untold += lines;
    if (performance.now() - this.#toldAtMs >= TELL_EVERY_MS) this.#tell(reason);
  }

  #tell(reason: string): void {
    if (this.#untold === 0) return;
    this.#log.warn({ lines: this.#untold, reason }, 'lines of the access log were dropped');
    this.#untold = 0;
    this.#toldAtMs = performance.now();
  }
}

const NEW_LINE = Buffer.from('\n');

const reasonOf = (error: unknown): string =>
  error instanceof Error ? ((error as NodeJS.ErrnoException).code ?? error.message) : String(error);
