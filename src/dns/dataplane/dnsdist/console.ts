/** Client for the console of dnsdist. Messages are encrypted with a shared key. Commands run one after the other. */
import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { xsalsa20poly1305 } from '@noble/ciphers/salsa.js';
import type { ServerAddress } from '../../../platform/addresses/index.ts';
import { SerialQueue } from '../../../platform/serialQueue/index.ts';

const KEY_BYTES = 32;
const NONCE_BYTES = 24;
const LENGTH_BYTES = 4;
/** Maximum size of the output of a command. The commands of Floodgate return at most one line per rule. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;
const TIMEOUT_MS = 5000;
/** Maximum time to connect. Short, because an unreachable node is retried every second. */
const CONNECT_TIMEOUT_MS = 1000;

/** Thrown if the console is unreachable, or its answer is invalid, e.g. encrypted with another key. */
export class ConsoleError extends Error {
  override readonly name = 'ConsoleError';

  constructor({ host, port }: ServerAddress, why: string) {
    super(`dnsdist console at ${host} port ${port}: ${why}`);
  }
}

export class DnsdistConsole {
  readonly address: ServerAddress;
  readonly #key: Uint8Array;
  readonly #commands = new SerialQueue();
  #session: Session | undefined;

  /** `key`: the argument of setKey() in the configuration of dnsdist, 32 bytes in base64. */
  constructor(address: ServerAddress, key: string) {
    this.address = address;
    this.#key = Buffer.from(key, 'base64');
    if (this.#key.length !== KEY_BYTES)
      throw new ConsoleError(
        address,
        'the key must be 32 bytes in base64; generate one with makeKey() in dnsdist',
      );
  }

  /**
   * Runs a command and returns its output. The time for earlier commands does not count towards `timeoutMs`. Throws
   * `ConsoleError`.
   */
  run(command: string, timeoutMs = TIMEOUT_MS): Promise<string> {
    return this.#commands.run(() => this.#run(command, timeoutMs));
  }

  get connected(): boolean {
    return this.#session?.socket.closed === false;
  }

  close(): void {
    this.#session?.socket.destroy();
    this.#session = undefined;
  }

  async #run(command: string, timeoutMs: number): Promise<string> {
    try {
      if (!this.connected) this.close();
      this.#session ??= await Session.open(this.address, this.#key);
      return await this.#session.ask(command, timeoutMs);
    } catch (error) {
      this.close();
      throw new ConsoleError(this.address, error instanceof Error ? error.message : String(error));
    }
  }
}

class Session {
  readonly socket: Socket;
  readonly #key: Uint8Array;
  readonly #chunks: AsyncIterator<Buffer>;
  #pending: Buffer = Buffer.alloc(0);
  #reading: Uint8Array = new Uint8Array();
  #writing: Uint8Array = new Uint8Array();
  #timer: NodeJS.Timeout | undefined;

  private constructor(address: ServerAddress, key: Uint8Array) {
    this.#key = key;
    this.socket = connect({ host: address.host, port: address.port, noDelay: true });
    this.#limit(CONNECT_TIMEOUT_MS);
    // During a command, the pending read throws the error. Between commands, errors are ignored, because the next
    // command opens a new connection.
    this.socket.on('error', () => {});
    this.socket.on('end', () => this.socket.destroy());
    this.socket.on('close', () => clearTimeout(this.#timer));
    this.#chunks = this.socket[Symbol.asyncIterator]();
  }

  static async open(address: ServerAddress, key: Uint8Array): Promise<Session> {
    const session = new Session(address, key);
    const ours = randomBytes(NONCE_BYTES);
    session.socket.write(ours);
    const theirs = await session.#read(NONCE_BYTES);
    session.#reading = halves(ours, theirs);
    session.#writing = halves(theirs, ours);
    return session;
  }

  async ask(command: string, timeoutMs: number): Promise<string> {
    const sealed = xsalsa20poly1305(this.#key, this.#writing).encrypt(Buffer.from(command));
    this.#writing = next(this.#writing);
    const length = Buffer.alloc(LENGTH_BYTES);
    length.writeUInt32BE(sealed.length);
    this.#limit(timeoutMs);
    this.socket.write(Buffer.concat([length, sealed]));
    const size = (await this.#read(LENGTH_BYTES)).readUInt32BE(0);
    if (size > MAX_ANSWER_BYTES)
      throw new Error(`the answer is too large: ${size} bytes, at most ${MAX_ANSWER_BYTES} are allowed`);
    const answer = size === 0 ? '' : this.#open(await this.#read(size));
    clearTimeout(this.#timer);
    return answer;
  }

  /** Limits the time of a whole answer: a node may send a byte from time to time. */
  #limit(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.socket.destroy(new Error('no answer within the time limit'));
    }, ms);
  }

  #open(sealed: Uint8Array): string {
    try {
      const opened = xsalsa20poly1305(this.#key, this.#reading).decrypt(sealed);
      this.#reading = next(this.#reading);
      return Buffer.from(opened).toString();
    } catch {
      throw new Error('the answer is encrypted with another key');
    }
  }

  async #read(bytes: number): Promise<Buffer> {
    while (this.#pending.length < bytes) {
      const { value, done } = await this.#chunks.next();
      if (done)
        throw new Error('dnsdist closed the connection; check that its setKey() matches dns.dnsdistKey');
      this.#pending = Buffer.concat([this.#pending, value]);
    }
    const read = this.#pending.subarray(0, bytes);
    this.#pending = this.#pending.subarray(bytes);
    return read;
  }
}

/** Combines two nonces as dnsdist does: the first half of `first` and the second half of `second`. */
const halves = (first: Uint8Array, second: Uint8Array): Uint8Array =>
  Buffer.concat([first.subarray(0, NONCE_BYTES / 2), second.subarray(NONCE_BYTES / 2)]);

/** Increments the message counter in the first 32 bits of the nonce. */
function next(nonce: Uint8Array): Uint8Array {
  const following = Buffer.from(nonce);
  following.writeUInt32BE((following.readUInt32BE(0) + 1) >>> 0, 0);
  return following;
}
