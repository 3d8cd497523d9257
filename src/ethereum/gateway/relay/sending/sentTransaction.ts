import { secp256k1 } from '@noble/curves/secp256k1.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { RLP, type RLPInput } from 'micro-eth-signer/core/rlp.js';

const BLOB_TYPE = 0x03;
/**
 * First bytes of RLP lists: `SHORT_LIST` plus the length up to `LONGEST_SHORT_LIST`, above it the number of bytes of
 * the length. A legacy transaction is a list; other transactions begin with their type.
 */
const [SHORT_LIST, LONGEST_SHORT_LIST] = [0xc0, 0xf7];
/** Bytes of a length that readUIntBE accepts. */
const MAX_LENGTH_BYTES = 6;

/**
 * Error messages of nodes that already have the same transaction: geth, erigon and reth; older geth and besu;
 * nethermind; anvil and OpenEthereum; older erigon. Messages for another transaction with the same nonce differ.
 */
const ALREADY_KNOWN =
  /\balready known\b|\bknown transaction\b|\balreadyknown\b|\balready imported\b|\bexisting tx with same hash\b/i;

/** Returns true if a node's error says that it already has the transaction. For the client, this is a success. */
export const isAlreadyKnown = (message: string): boolean => ALREADY_KNOWN.test(message);

/** Returns true if a node's error means that a block has a transaction with this nonce, possibly the same one. */
export const isNonceUsed = (message: string): boolean =>
  /\bnonce\b.*\b(?:too low|already been used)\b|\bold ?nonce\b/i.test(message);

/** Returns the hash of a signed transaction (a `0x` string). Blobs are not part of the hash (EIP-4844). */
export function sentTransactionHash(raw: string): string {
  const bytes = Buffer.from(raw.slice(2), 'hex');
  return `0x${Buffer.from(keccak_256(withoutBlobs(bytes))).toString('hex')}`;
}

/** Returns the address that signed a transaction (a `0x` string), or undefined if the signature is not valid. */
export function senderOf(raw: string): string | undefined {
  try {
    const bytes = withoutBlobs(Buffer.from(raw.slice(2), 'hex'));
    const isTyped = (bytes[0] ?? 0) < SHORT_LIST;
    const fields = RLP.decode(isTyped ? bytes.subarray(1) : bytes) as readonly RLPInput[]; // a list, otherwise the next lines throw
    const [v, r, s] = fields.slice(-3).map((field) => Buffer.from(field as Uint8Array)) as [
      Buffer,
      Buffer,
      Buffer,
    ]; // as above
    const y = Number(BigInt(`0x${v.toString('hex') || '0'}`));
    const unsigned = fields.slice(0, -3);
    // A legacy transaction signs its chain id (EIP-155), except if `v` is 27 or 28.
    if (!isTyped && y > 28)
      unsigned.push(quantityBytes(Math.floor((y - 35) / 2)), new Uint8Array(), new Uint8Array());
    const payload = RLP.encode(unsigned);
    const hash = keccak_256(isTyped ? Buffer.concat([bytes.subarray(0, 1), payload]) : payload);
    const parity = isTyped ? y : y > 28 ? (y - 35) % 2 : y - 27;
    const signature = Buffer.concat([Buffer.from([parity]), padded(r), padded(s)]);
    const point = secp256k1.Point.fromBytes(secp256k1.recoverPublicKey(signature, hash, { prehash: false }));
    const address = keccak_256(point.toBytes(false).subarray(1)).subarray(-20);
    return `0x${Buffer.from(address).toString('hex')}`;
  } catch {
    // The bytes are not a transaction that this function knows.
    return undefined;
  }
}

const padded = (bytes: Buffer): Buffer => Buffer.concat([Buffer.alloc(32), bytes]).subarray(-32);

function quantityBytes(value: number): Uint8Array {
  const hex = value.toString(16);
  return Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex');
}

/** Returns a transaction without its blobs, which a list after its type contains as further items. */
function withoutBlobs(bytes: Buffer): Buffer {
  if (bytes[0] !== BLOB_TYPE) return bytes;
  const outer = listAt(bytes, 1);
  const transaction = outer && listAt(bytes, outer.payload);
  if (outer === undefined || transaction === undefined) return bytes;
  return Buffer.concat([bytes.subarray(0, 1), bytes.subarray(outer.payload, transaction.end)]);
}

/** Returns the offsets of the payload and of the end of the RLP list at `at`. Undefined if there is no list. */
function listAt(bytes: Buffer, at: number): { readonly payload: number; readonly end: number } | undefined {
  const prefix = bytes[at] ?? 0;
  if (prefix < SHORT_LIST) return undefined;
  const lengthBytes = Math.max(0, prefix - LONGEST_SHORT_LIST);
  const payload = at + 1 + lengthBytes;
  if (lengthBytes > MAX_LENGTH_BYTES || payload > bytes.length) return undefined;
  const length = lengthBytes === 0 ? prefix - SHORT_LIST : bytes.readUIntBE(at + 1, lengthBytes);
  return payload + length > bytes.length ? undefined : { payload, end: payload + length };
}
