/** Building blocks of the script. */
import type { Address, Data } from '../../../../src/ethereum/traces/index.ts';
import { type Action, program } from '../actor.ts';
import { ANNA, BERT, DIRECTOR, precompile } from '../cast.ts';
import type { Transaction } from '../transaction.ts';

export const ETHER = 10n ** 18n;
/** More than the balance of any Actor. */
export const FORTUNE = 1_000_000n * ETHER;
export const LIVES = 10n * ETHER;

export const IDENTITY = precompile(4);
export const SHA256 = precompile(2);
export const RIPEMD160 = precompile(3);
/** Fails on bytes that are not a point of its curve. */
export const CURVE_ADD = precompile(6);
export const bytes = (text: string): Data => `0x${Buffer.from(text).toString('hex')}` as Data; // hex of whole bytes
export const raw = (digits: string): Data => `0x${digits}` as Data; // the literals below are hex of whole bytes

/** Returns a small number in the form of an address: the salt of a create2, or the key of a storage slot. */
export const salt = (number: number): Address => precompile(number);

/** Returns a transaction of the director that makes Anna run the actions. */
export const anna = (about: string, ...actions: readonly Action[]): Transaction => ({
  about,
  from: DIRECTOR,
  to: ANNA,
  data: program(...actions),
});
export const plain = (about: string, transaction: Omit<Transaction, 'about' | 'from'>): Transaction => ({
  about,
  from: DIRECTOR,
  ...transaction,
});

/** Returns a program in which Anna and Bert call each other `depth` frames deep; the last frame runs `last`. */
export function nest(depth: number, ...last: readonly Action[]): Data {
  let inner = program(...last);
  for (let level = depth; level > 0; level--)
    inner = program({ kind: 'call', target: level % 2 === 0 ? ANNA : BERT, data: inner });
  return inner;
}
