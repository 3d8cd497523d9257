import type { Random } from '../../test/support/random.ts';

/** Sources of mutations. */
export interface Material {
  readonly random: Random;
  readonly dictionary: readonly Uint8Array[];
  /** Returns another input of the corpus. */
  readonly other: () => Uint8Array;
}

type Mutation = (input: Uint8Array, material: Material) => Uint8Array;

/** Bytes at boundaries in code: ends of ranges, length octets, digits, separators. */
const TELLING_BYTES = [0, 1, 2, 3, 0x0a, 0x20, 0x22, 0x30, 0x3f, 0x40, 0x7f, 0x80, 0xbf, 0xc0, 0xfe, 0xff];
const MAX_STACKED = 6;
const MAX_PIECE_BYTES = 32;

/** Returns the input after a few mutations, at most `maxBytes` long. */
export function mutate(input: Uint8Array, material: Material, maxBytes: number): Uint8Array {
  let mutated = input;
  for (let left = 1 + material.random.below(MAX_STACKED); left > 0; left--)
    mutated = material.random.pick(MUTATIONS)(mutated, material);
  return mutated.subarray(0, maxBytes);
}

const MUTATIONS: readonly Mutation[] = [
  flipBit,
  setByte,
  setByte,
  addToByte,
  remove,
  repeat,
  move,
  insertNoise,
  useWord,
  useWord,
  splice,
];

function flipBit(input: Uint8Array, { random }: Material): Uint8Array {
  const copy = Uint8Array.from(input);
  const at = random.below(copy.length);
  copy[at] = (copy[at] ?? 0) ^ (1 << random.below(8));
  return copy;
}

function setByte(input: Uint8Array, { random }: Material): Uint8Array {
  const copy = Uint8Array.from(input);
  copy[random.below(copy.length)] = random.chance(0.5) ? random.below(256) : random.pick(TELLING_BYTES);
  return copy;
}

function addToByte(input: Uint8Array, { random }: Material): Uint8Array {
  const copy = Uint8Array.from(input);
  const at = random.below(copy.length);
  copy[at] = (copy[at] ?? 0) + random.between(-4, 4);
  return copy;
}

function remove(input: Uint8Array, { random }: Material): Uint8Array {
  const from = random.below(input.length + 1);
  return exchange(input, { at: from, bytes: random.below(pieceBytes(input, random)) }, EMPTY);
}

function repeat(input: Uint8Array, { random }: Material): Uint8Array {
  const from = random.below(input.length + 1);
  const piece = input.subarray(from, from + pieceBytes(input, random));
  const times = random.chance(0.1) ? random.below(64) : 1;
  return exchange(input, { at: from, bytes: 0 }, Buffer.concat(Array.from({ length: times }, () => piece)));
}

function move(input: Uint8Array, { random }: Material): Uint8Array {
  const from = random.below(input.length + 1);
  const piece = input.subarray(from, from + pieceBytes(input, random));
  const at = random.below(input.length + 1);
  return exchange(input, { at, bytes: random.chance(0.5) ? piece.length : 0 }, piece);
}

function insertNoise(input: Uint8Array, { random }: Material): Uint8Array {
  const noise = Uint8Array.from({ length: 1 + random.below(4) }, () => random.below(256));
  return exchange(input, { at: random.below(input.length + 1), bytes: 0 }, noise);
}

function useWord(input: Uint8Array, material: Material): Uint8Array {
  const { random, dictionary } = material;
  if (dictionary.length === 0) return setByte(input, material);
  const word = random.pick(dictionary);
  const at = random.below(input.length + 1);
  return exchange(input, { at, bytes: random.chance(0.5) ? word.length : 0 }, word);
}

function splice(input: Uint8Array, { random, other }: Material): Uint8Array {
  const source = other();
  const from = random.below(source.length + 1);
  const piece = source.subarray(from, random.chance(0.5) ? source.length : from + MAX_PIECE_BYTES);
  const at = random.below(input.length + 1);
  return exchange(input, { at, bytes: random.chance(0.5) ? input.length : piece.length }, piece);
}

const EMPTY = new Uint8Array();

/** Most pieces are short, because a long one destroys the structure of the input. */
const pieceBytes = (input: Uint8Array, random: Random): number =>
  1 + random.below(random.chance(0.1) ? input.length + 1 : MAX_PIECE_BYTES);

function exchange(
  input: Uint8Array,
  { at, bytes }: { readonly at: number; readonly bytes: number },
  by: Uint8Array,
): Uint8Array {
  return Buffer.concat([input.subarray(0, at), by, input.subarray(at + bytes)]);
}
