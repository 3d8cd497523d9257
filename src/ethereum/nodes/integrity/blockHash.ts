import { keccak_256 } from '@noble/hashes/sha3.js';
import { RLP } from 'micro-eth-signer/core/rlp.js';
import { InvalidResponseError } from './invalidResponseError.ts';
import { quantityBytes } from './quantityBytes.ts';

/** Members of a block header, in the order in which they are hashed. Each fork may append members. */
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

/** Index of the first member that a header may lack. Forks added this member and the later ones. */
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

/** Members of a block that are not part of the hashed header. */
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
 * Checks that a block's hash is the hash of its header, otherwise throws InvalidResponseError. Returns true if the
 * block was checked, false if the header has an unknown form: of a later fork, or of a chain with its own format.
 */
export function checkBlockHash(block: unknown): boolean {
  const members = block as Readonly<Record<string, unknown>>; // the caller passes a JSON object
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
      `block ${members['number']} has hash ${members['hash']}, but its header hashes to ${hash}`,
    );
  return true;
}
