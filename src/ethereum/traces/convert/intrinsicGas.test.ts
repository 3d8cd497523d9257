import { describe, expect, it } from 'vitest';
import type { Fork } from './forks.ts';
import { floorGas, intrinsicGas } from './intrinsicGas.ts';
import { parseTransactions } from './parseTransactions.ts';

const ALICE = `0x${'a1'.repeat(20)}`;
const BOB = `0x${'b0'.repeat(20)}`;
const word = `0x${'00'.repeat(32)}`;

function transaction(members: Record<string, unknown>) {
  const plain = { hash: word, from: ALICE, to: BOB, value: '0x1', gas: '0x5208', input: '0x' };
  const [parsed] = parseTransactions({ transactions: [{ ...plain, ...members }] });
  if (!parsed) throw new Error('no transaction');
  return parsed;
}

const bytes = { input: '0x00ff00ff11' };
const creation = { to: null, input: `0x${'ff'.repeat(33)}` };
const accessList = [
  { address: ALICE, storageKeys: [word, word] },
  { address: BOB, storageKeys: [] },
];
const authorizationList = [{}, {}];

describe('what a transaction pays before it runs', () => {
  it.each<[string, Record<string, unknown>, Fork, number]>([
    ['a transfer', {}, 'frontier', 21_000],
    ['a transfer', {}, 'osaka', 21_000],
    ['data', bytes, 'constantinople', 21_000 + 2 * 4 + 3 * 68],
    ['data', bytes, 'istanbul', 21_000 + 2 * 4 + 3 * 16],
    ['a creation', creation, 'frontier', 21_000 + 33 * 68],
    ['a creation', creation, 'homestead', 53_000 + 33 * 68],
    ['a creation', creation, 'berlin', 53_000 + 33 * 16],
    ['a creation, of two words', creation, 'shanghai', 53_000 + 33 * 16 + 2 * 2],
    ['an access list', { accessList }, 'berlin', 21_000 + 2 * 2_400 + 2 * 1_900],
    ['authorizations', { authorizationList }, 'prague', 21_000 + 2 * 25_000],
    ['a transfer', {}, 'amsterdam', 12_000 + 3_000 + 6_000],
    ['a call without value', { value: '0x0' }, 'amsterdam', 12_000 + 3_000],
    ['a transfer to oneself', { to: ALICE }, 'amsterdam', 12_000],
    ['a creation', { to: null }, 'amsterdam', 24_000],
    ['an access list', { accessList }, 'amsterdam', 21_000 + 2 * (2_900 + 1_280) + 2 * (2_000 + 2_048)],
    ['authorizations', { authorizationList }, 'amsterdam', 21_000 + 2 * 7_816],
  ])('for %s: %o under %s is %i', (_, members, fork, gas) => {
    expect(intrinsicGas(transaction(members), fork)).toBe(BigInt(gas));
  });
});

describe('the least that a transaction pays', () => {
  it.each<[Record<string, unknown>, Fork, number | undefined]>([
    [bytes, 'cancun', undefined],
    [{}, 'prague', 21_000],
    [bytes, 'prague', 21_000 + 10 * (2 + 4 * 3)],
    [bytes, 'amsterdam', 21_000 + 64 * 5],
    [{ accessList }, 'amsterdam', 21_000 + 64 * (2 * 20 + 2 * 32)],
  ])('for %o under %s is %s', (members, fork, gas) => {
    expect(floorGas(transaction(members), fork)).toBe(gas === undefined ? undefined : BigInt(gas));
  });
});
