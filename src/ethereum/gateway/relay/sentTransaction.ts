import { keccak_256 } from '@noble/hashes/sha3.js';
import { RLP } from 'micro-eth-signer/core/rlp.js';

const BLOB_TYPE = 0x03;

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

function withoutBlobs(bytes: Buffer): Uint8Array {
  if (bytes[0] !== BLOB_TYPE) return bytes;
  try {
    const [transaction] = [RLP.decode(bytes.subarray(1))].flat();
    if (Array.isArray(transaction)) return Buffer.concat([bytes.subarray(0, 1), RLP.encode(transaction)]);
  } catch {
    // The bytes are not a valid transaction, so the node returns an error.
  }
  return bytes;
}
