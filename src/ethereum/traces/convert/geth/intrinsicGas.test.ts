import { describe, expect, it } from 'vitest';
import type { Fork } from '../chains/forks.ts';
import { parseTransactions } from '../parseTransactions.ts';
import { floorGas, intrinsicGas } from './intrinsicGas.ts';

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

describe('intrinsicGas', () => {
  it.each<{ what: string; members: Record<string, unknown>; fork: Fork; gas: number }>([
    { what: 'a transfer', members: {}, fork: 'frontier', gas: 21_000 },
    { what: 'a transfer', members: {}, fork: 'osaka', gas: 21_000 },
    { what: 'data', members: bytes, fork: 'constantinople', gas: 21_000 + 2 * 4 + 3 * 68 },
    { what: 'data', members: bytes, fork: 'istanbul', gas: 21_000 + 2 * 4 + 3 * 16 },
    { what: 'a creation', members: creation, fork: 'frontier', gas: 21_000 + 33 * 68 },
    { what: 'a creation', members: creation, fork: 'homestead', gas: 53_000 + 33 * 68 },
    { what: 'a creation', members: creation, fork: 'berlin', gas: 53_000 + 33 * 16 },
    { what: 'a creation, of two words', members: creation, fork: 'shanghai', gas: 53_000 + 33 * 16 + 2 * 2 },
    { what: 'an access list', members: { accessList }, fork: 'berlin', gas: 21_000 + 2 * 2_400 + 2 * 1_900 },
    { what: 'authorizations', members: { authorizationList }, fork: 'prague', gas: 21_000 + 2 * 25_000 },
    { what: 'a transfer', members: {}, fork: 'amsterdam', gas: 12_000 + 3_000 + 6_000 },
    { what: 'a call without value', members: { value: '0x0' }, fork: 'amsterdam', gas: 12_000 + 3_000 },
    { what: 'a transfer to oneself', members: { to: ALICE }, fork: 'amsterdam', gas: 12_000 },
    { what: 'a creation', members: { to: null }, fork: 'amsterdam', gas: 24_000 },
    {
      what: 'an access list',
      members: { accessList },
      fork: 'amsterdam',
      gas: 21_000 + 2 * (2_900 + 1_280) + 2 * (2_000 + 2_048),
    },
    { what: 'authorizations', members: { authorizationList }, fork: 'amsterdam', gas: 21_000 + 2 * 7_816 },
  ])('is $gas for $what under $fork', ({ members, fork, gas }) => {
    expect(intrinsicGas(transaction(members), fork)).toBe(BigInt(gas));
  });
});

describe('floorGas', () => {
  it.each<[Record<string, unknown>, Fork, number | undefined]>([
    [bytes, 'cancun', undefined],
    [{}, 'prague', 21_000],
    [bytes, 'prague', 21_000 + 10 * (2 + 4 * 3)],
    [bytes, 'amsterdam', 21_000 + 64 * 5],
    [{ accessList }, 'amsterdam', 21_000 + 64 * (2 * 20 + 2 * 32)],
  ])('of a transaction with %o under %s is %s', (members, fork, gas) => {
    expect(floorGas(transaction(members), fork)).toBe(gas === undefined ? undefined : BigInt(gas));
  });
});
