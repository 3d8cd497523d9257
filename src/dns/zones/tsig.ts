/** Signs a DNS query with TSIG, and verifies the signatures of all messages of its answer (RFC 8945, 5.3). */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { nameToWire, rcodeOf, readUint16 } from '../protocol/index.ts';
import type { TsigKey } from './tsigKey.ts';
import { CLASS_ANY, readTsig, TSIG_TYPE, type TsigRecord } from './tsigRecord.ts';

/** Maximum difference between the clocks of guard and server (RFC 8945, 10). With NTP, clocks differ by less. */
const FUDGE_SECONDS = 300;
/** Maximum number of consecutive messages without a signature in an answer (RFC 8945, 5.3.1). */
const MAX_UNSIGNED = 99;
const ADDITIONAL_COUNT = 10;
const HASHES = { 'hmac-sha256': 'sha256', 'hmac-sha512': 'sha512' } as const;
const ERRORS: Readonly<Record<number, string>> = {
  16: 'BADSIG',
  17: 'BADKEY',
  18: 'BADTIME',
  22: 'BADTRUNC',
};

export class TsigSession {
  readonly #key: TsigKey;
  readonly #name: Uint8Array;
  readonly #algorithm: Uint8Array;
  /** Signature of the previous signed message. It is part of the data of the next signature. */
  #mac: Buffer = Buffer.alloc(0);
  #isFirst = true;
  /** Messages without a signature since the previous signed message. The next signature must cover them. */
  #unsigned: Buffer[] = [];

  constructor(key: TsigKey) {
    this.#key = key;
    this.#name = nameToWire(key.name);
    this.#algorithm = nameToWire(key.algorithm);
  }

  /** Returns the signed query. `query` must not have additional records. */
  sign(query: Uint8Array, nowMs: number): Buffer {
    const timers = timersOf(Math.floor(nowMs / 1000), FUDGE_SECONDS);
    this.#mac = this.#hmac([query, this.#variables(timers, Buffer.alloc(4))]);
    const data = Buffer.concat([
      this.#algorithm,
      timers,
      uint16(this.#mac.length),
      this.#mac,
      query.subarray(0, 2),
      Buffer.alloc(4),
    ]);
    const head = [uint16(TSIG_TYPE), uint16(CLASS_ANY), Buffer.alloc(4), uint16(data.length)];
    const signed = Buffer.concat([query, this.#name, ...head, data]);
    signed.writeUInt16BE(1, ADDITIONAL_COUNT);
    return signed;
  }

  /**
   * Returns the messages that the signature of `message` covers: `message`, and the messages without a signature
   * before it. If `message` has no signature, returns none, and a later signature must cover it. Throws if a
   * signature is invalid or missing.
   */
  verify(message: Buffer, nowMs: number): readonly Buffer[] {
    const tsig = readTsig(message);
    if (tsig === undefined) {
      if (this.#isFirst) throw new Error(`the answer (rcode ${rcodeOf(message)}) is not signed`);
      if (this.#unsigned.push(message) > MAX_UNSIGNED)
        throw new Error(`more than ${MAX_UNSIGNED} unsigned messages in a row`);
      return [];
    }
    this.#check(message, tsig, nowMs);
    const verified = [...this.#unsigned, message];
    this.#unsigned = [];
    this.#isFirst = false;
    this.#mac = tsig.mac;
    return verified;
  }

  #check(message: Buffer, tsig: TsigRecord, nowMs: number): void {
    if (tsig.name !== this.#key.name || tsig.algorithm !== this.#key.algorithm)
      throw new Error('the answer is signed with another key');
    if (tsig.error !== 0 && tsig.mac.length === 0)
      throw new Error(`the server rejected the TSIG key: ${ERRORS[tsig.error] ?? `error ${tsig.error}`}`);
    const bare = Buffer.from(message.subarray(0, tsig.start));
    tsig.originalId.copy(bare);
    bare.writeUInt16BE(readUint16(bare, ADDITIONAL_COUNT) - 1, ADDITIONAL_COUNT);
    const wanted = this.#hmac([
      uint16(this.#mac.length),
      this.#mac,
      ...this.#unsigned,
      bare,
      this.#isFirst ? this.#variables(tsig.timers, tsig.errorAndOther) : tsig.timers,
    ]);
    // Truncated signatures (RFC 8945, 5.2.2.1) are rejected. They are easier to guess, and no server truncates SHA-2.
    if (tsig.mac.length !== wanted.length) throw new Error('the signature of the answer is truncated');
    if (!timingSafeEqual(tsig.mac, wanted)) throw new Error('the signature of the answer is invalid');
    if (tsig.error !== 0)
      throw new Error(`the server rejected the TSIG key: ${ERRORS[tsig.error] ?? `error ${tsig.error}`}`);
    const offSeconds = Math.abs(nowMs / 1000 - tsig.timeSeconds);
    if (offSeconds > Math.min(tsig.fudgeSeconds, FUDGE_SECONDS) + 1)
      throw new Error(
        `the signing time of the answer is off by ${Math.round(offSeconds)} seconds: check the clocks of both hosts`,
      );
  }

  /** Returns the TSIG variables (RFC 8945, 4.3.3): those fields of a TSIG record that its signature covers. */
  #variables(timers: Uint8Array, errorAndOther: Uint8Array): Buffer {
    return Buffer.concat([
      this.#name,
      uint16(CLASS_ANY),
      Buffer.alloc(4),
      this.#algorithm,
      timers,
      errorAndOther,
    ]);
  }

  #hmac(parts: readonly Uint8Array[]): Buffer {
    const hmac = createHmac(HASHES[this.#key.algorithm], this.#key.secret);
    for (const part of parts) hmac.update(part);
    return hmac.digest();
  }
}

/** Encodes the signing time (48 bits) and the fudge (16 bits): the permitted error of this time in seconds. */
function timersOf(seconds: number, fudgeSeconds: number): Buffer {
  const timers = Buffer.alloc(8);
  timers.writeUIntBE(seconds, 0, 6);
  timers.writeUInt16BE(fudgeSeconds, 6);
  return timers;
}

function uint16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value);
  return bytes;
}
