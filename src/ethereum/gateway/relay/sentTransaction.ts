import { keccak_256 } from '@noble/hashes/sha3.js';
import { RLP } from 'micro-eth-signer/core/rlp.js';

const BLOB_TYPE = 0x03;

/**
 * How nodes say that they have this very transaction already (geth, erigon and reth; older geth and besu; nethermind;
 * anvil and OpenEthereum; older erigon). Another transaction with its nonce is told otherwise.
 */
const ALREADY_KNOWN =
  /\balready known\b|\bknown transaction\b|\balreadyknown\b|\balready imported\b|\bexisting tx with same hash\b/i;

/** Whether a node's error to a transaction says that it has it already: what the sender wanted is so. */
export const isAlreadyKnown = (message: string): boolean => ALREADY_KNOWN.test(message);

/** The hash of a signed transaction as it is sent (`0x…`): of blobs that come with it, nothing is hashed (EIP-4844). */
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
    // No transaction: the node says what is wrong with it.
  }
  return bytes;
}
