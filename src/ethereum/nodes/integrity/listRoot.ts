import { keccak_256 } from '@noble/hashes/sha3.js';
import { RLP, type RLPInput } from 'micro-eth-signer/core/rlp.js';

interface Entry {
  readonly key: readonly number[];
  readonly value: Uint8Array;
}

/** A trie node whose encoding is shorter than this is embedded in its parent. Otherwise the parent has its hash. */
const HASH_BYTES = 32;
const DIGITS = 16;
const EMPTY = new Uint8Array();

/** Returns the root of the Merkle Patricia trie of a list (yellow paper, 4.3 and D). Keys are RLP-encoded indexes. */
export function listRoot(values: readonly Uint8Array[]): string {
  const entries = values.map((value, i) => ({ key: digitsOf(RLP.encode(i === 0 ? EMPTY : i)), value }));
  const root = keccak_256(RLP.encode(entries.length === 0 ? EMPTY : nodeOf(entries, 0)));
  return `0x${Buffer.from(root).toString('hex')}`;
}

/** Returns the trie node of entries whose keys agree in `depth` first digits. No key may be a prefix of another. */
function nodeOf(entries: readonly Entry[], depth: number): RLPInput[] {
  const [first] = entries;
  if (first !== undefined && entries.length === 1)
    return [compact(first.key.slice(depth), true), first.value];
  const shared = sharedFrom(entries, depth);
  if (shared > depth) {
    const path = first?.key.slice(depth, shared) ?? [];
    return [compact(path, false), referenceTo(nodeOf(entries, shared))];
  }
  const children = Array.from({ length: DIGITS }, (_, digit): RLPInput => {
    const below = entries.filter(({ key }) => key[depth] === digit);
    return below.length === 0 ? EMPTY : referenceTo(nodeOf(below, depth + 1));
  });
  return [...children, EMPTY];
}

function referenceTo(node: RLPInput[]): RLPInput {
  const bytes = RLP.encode(node);
  return bytes.length < HASH_BYTES ? node : keccak_256(bytes);
}

/** Returns the length of the common prefix of all keys, which have the same first `depth` digits. */
function sharedFrom(entries: readonly Entry[], depth: number): number {
  const [first] = entries;
  let end = depth;
  while (first?.key[end] !== undefined && entries.every(({ key }) => key[end] === first.key[end])) end++;
  return end;
}

/** Returns digits in hex-prefix encoding (yellow paper, C), with flags for the end of a key and an odd length. */
function compact(digits: readonly number[], isEnd: boolean): Uint8Array {
  const flag = isEnd ? 2 : 0;
  const padded = digits.length % 2 === 0 ? [flag, 0, ...digits] : [flag + 1, ...digits];
  return Uint8Array.from(
    { length: padded.length / 2 },
    (_, i) => (padded[2 * i] ?? 0) * DIGITS + (padded[2 * i + 1] ?? 0),
  );
}

const digitsOf = (bytes: Uint8Array): readonly number[] =>
  [...bytes].flatMap((byte) => [byte >> 4, byte & (DIGITS - 1)]);
