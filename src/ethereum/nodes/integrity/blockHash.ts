import { keccak_256 } from '@noble/hashes/sha3.js';
import { RLP } from 'micro-eth-signer/core/rlp.js';
import { InvalidResponseError } from './invalidResponseError.ts';
import { quantityBytes } from './quantityBytes.ts';

/** The members of a header in the order in which they are hashed; each fork adds at the end. */
const HASHED = [
  'parentHash',
  'sha3Uncles',
  'miner',
  'stateRoot',
  'transactionsRoot',
  'receiptsRoot',
  'logsBloom',
  'difficulty',
  'number',
  'gasLimit',
  'gasUsed',
  'timestamp',
  'extraData',
  'mixHash',
  'nonce',
  'baseFeePerGas',
  'withdrawalsRoot',
  'blobGasUsed',
  'excessBlobGas',
  'parentBeaconBlockRoot',
  'requestsHash',
] as const;

/** The members up to `nonce` are in every header; those behind came with forks. */
const FIRST_OPTIONAL = HASHED.indexOf('baseFeePerGas');

const QUANTITIES: ReadonlySet<string> = new Set([
  'difficulty',
  'number',
  'gasLimit',
  'gasUsed',
  'timestamp',
  'baseFeePerGas',
  'blobGasUsed',
  'excessBlobGas',
]);

/** Members of a block that its header's hash does not cover directly. */
const NOT_HASHED: ReadonlySet<string> = new Set([
  'hash',
  'size',
  'totalDifficulty',
  'transactions',
  'uncles',
  'withdrawals',
  'author',
]);

const KNOWN: ReadonlySet<string> = new Set<string>([...HASHED, ...NOT_HASHED]);

/**
 * Checks that a block's hash is the hash of its header, where all members of the header are known to us: a header of a
 * later fork, or of a chain with headers of its own, passes unchecked. Returns whether it was checked. Throws InvalidResponseError.
 */
export function checkBlockHash(block: unknown): boolean {
  const members = block as Readonly<Record<string, unknown>>; // the caller has a JSON object
  if (Object.keys(members).some((name) => !KNOWN.has(name))) return false;
  const fields: Uint8Array[] = [];
  let left = false;
  for (const [i, name] of HASHED.entries()) {
    const value = members[name];
    if (value === undefined || value === null) {
      if (i < FIRST_OPTIONAL) return false;
      left = true;
    } else if (typeof value !== 'string' || left) return false;
    else fields.push(QUANTITIES.has(name) ? quantityBytes(value) : Buffer.from(value.slice(2), 'hex'));
  }
  const hash = `0x${Buffer.from(keccak_256(RLP.encode(fields))).toString('hex')}`;
  if (hash !== String(members['hash']).toLowerCase())
    throw new InvalidResponseError(
      `block ${members['number']} says its hash is ${members['hash']}, its header has ${hash}`,
    );
  return true;
}
