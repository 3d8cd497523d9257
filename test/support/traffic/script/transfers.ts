import { ANNA, DIRECTOR, NOBODY } from '../cast.ts';
import type { Transaction } from '../transaction.ts';
import { bytes, CURVE_ADD, ETHER, IDENTITY, plain, raw, SHA256 } from './scene.ts';

/** Transactions to accounts without code and to precompiled contracts. */
export const transfers: readonly Transaction[] = [
  plain('a transfer (legacy)', { type: 'legacy', to: NOBODY, value: 1n, gas: 21_000 }),
  plain('a transfer (access list)', {
    type: 'eip2930',
    to: NOBODY,
    value: 2n,
    accessList: [{ address: ANNA, storageKeys: [`0x${'00'.repeat(32)}`] }],
  }),
  plain('a transfer (fee cap)', { to: NOBODY, value: 3n }),
  plain('a transfer of nothing', { to: NOBODY }),
  plain('a transfer to oneself', { to: DIRECTOR.address, value: 4n }),
  plain('a transfer to a contract', { to: ANNA, value: ETHER }),
  plain('a transaction with data to an address without code', { to: NOBODY, data: bytes('hello') }),
  plain('a transaction with so much data that a floor decides its gas', {
    to: NOBODY,
    data: raw('ff'.repeat(2_000)),
  }),
  plain('a transaction to a precompile, without value', { to: IDENTITY, data: bytes('hello') }),
  plain('a transaction to a precompile, with value', { to: SHA256, value: 1n, data: bytes('hello') }),
  plain('a transaction to a precompile that fails', {
    to: CURVE_ADD,
    data: raw('01'.repeat(64)),
    gas: 100_000,
  }),
];
