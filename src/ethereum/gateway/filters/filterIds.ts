import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { overLimit } from '../../jsonrpc/index.ts';
import type { BlockRef } from '../../nodes/index.ts';
import type { LogFilter } from '../methods/logFilter.ts';

/** What an HTTP filter is of, and where it began. */
export interface FilterState {
  /** Undefined of a filter of blocks. */
  readonly logs: LogFilter | undefined;
  /** The head when it was made. */
  readonly since: BlockRef;
}

/** A filter that an id stands for. */
export interface KnownFilter extends FilterState {
  /** Tells it from others that are of the same. */
  readonly name: string;
}

/**
 * An id, before it is written as hex: u8 version, 16 bytes that prove that it is ours, 8 random ones, the block where it began (6 bytes
 * its number, 32 its hash), and the filter as deflated JSON; nothing of a filter of blocks. Clients may take it for a number: the
 * first digit is no zero.
 */
const VERSION = 0x11;
const PROOF_AT = 1;
const PROOF_BYTES = 16;
const RANDOM_AT = PROOF_AT + PROOF_BYTES;
const RANDOM_BYTES = 8;
const NUMBER_AT = RANDOM_AT + RANDOM_BYTES;
const NUMBER_BYTES = 6;
const HASH_AT = NUMBER_AT + NUMBER_BYTES;
const HASH_BYTES = 32;
const FILTER_AT = HASH_AT + HASH_BYTES;

/** Of a filter that stands in its id: those of about 200 addresses and topics. */
const MAX_FILTER_BYTES = 4 * 1024;

const HEX = /^0x(?:[0-9a-f]{2})+$/i;

/** The ids of HTTP filters of one network. Nothing is kept for one: whoever has the secret reads in it what it stands for. */
export class FilterIds {
  readonly #network: string;
  readonly #secret: Uint8Array;

  constructor(network: string, secret: Uint8Array) {
    this.#network = network;
    this.#secret = secret;
  }

  /** Throws RpcError where the filter is too large. */
  make({ logs, since }: FilterState): KnownFilter & { readonly id: string } {
    const filter = logs === undefined ? Buffer.alloc(0) : deflateRawSync(JSON.stringify(logs));
    if (filter.length > MAX_FILTER_BYTES)
      throw overLimit('bytes of a filter, compressed', MAX_FILTER_BYTES, filter.length);
    const bytes = Buffer.concat([Buffer.alloc(FILTER_AT), filter]);
    bytes[0] = VERSION;
    randomBytes(RANDOM_BYTES).copy(bytes, RANDOM_AT);
    bytes.writeUIntBE(since.number, NUMBER_AT, NUMBER_BYTES);
    bytes.write(since.hash.slice(2), HASH_AT, 'hex');
    const proof = this.#proofOf(bytes);
    proof.copy(bytes, PROOF_AT);
    return { id: `0x${bytes.toString('hex')}`, name: proof.toString('hex'), logs, since };
  }

  /** Undefined for what is no id of ours. */
  read(id: string): KnownFilter | undefined {
    const isOfSize = id.length <= 2 + 2 * (FILTER_AT + MAX_FILTER_BYTES);
    const bytes = Buffer.from(isOfSize && HEX.test(id) ? id.slice(2) : '', 'hex');
    if (bytes.length < FILTER_AT || bytes[0] !== VERSION) return undefined;
    const proof = bytes.subarray(PROOF_AT, RANDOM_AT);
    if (!timingSafeEqual(proof, this.#proofOf(bytes))) return undefined;
    // What is proved to be ours is as we made it.
    const filter = bytes.subarray(FILTER_AT);
    return {
      name: proof.toString('hex'),
      logs: filter.length === 0 ? undefined : (JSON.parse(inflateRawSync(filter).toString()) as LogFilter),
      since: {
        number: bytes.readUIntBE(NUMBER_AT, NUMBER_BYTES),
        hash: `0x${bytes.toString('hex', HASH_AT, FILTER_AT)}` as BlockRef['hash'],
      },
    };
  }

  #proofOf(bytes: Buffer): Buffer {
    const hmac = createHmac('sha256', this.#secret).update(`${this.#network}\0`);
    return hmac.update(bytes.subarray(RANDOM_AT)).digest().subarray(0, PROOF_BYTES);
  }
}
