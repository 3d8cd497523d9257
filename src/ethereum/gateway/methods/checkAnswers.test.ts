import { describe, expect, it } from 'vitest';
import { checkAnswer } from './checkAnswer.ts';
import type { RelayedRow } from './row.ts';
import { RELAYED_ROWS } from './rows/relayedRows.ts';

const HASH = `0x${'a'.repeat(64)}`;
const OTHER_HASH = `0x${'b'.repeat(64)}`;
const ADDRESS = `0x${'1'.repeat(40)}`;

const receipt = (index: number, more: object = {}): object => ({
  blockHash: HASH,
  blockNumber: '0x5',
  transactionIndex: `0x${index.toString(16)}`,
  ...more,
});
const simulated = (...calls: number[]): object => ({
  blockStateCalls: calls.map((count) => ({ calls: Array(count).fill({}) })),
});
const results = (...calls: number[]): object[] => calls.map((count) => ({ calls: Array(count).fill({}) }));

function check(method: string, params: readonly unknown[], value: unknown): void {
  const row = RELAYED_ROWS.find(({ name }) => name === method) as RelayedRow; // the tests name existing methods only
  checkAnswer({ row, params, chainId: '0x7a69' }, value);
}

describe('checkAnswer accepts a result', () => {
  it.each<[string, readonly unknown[], unknown]>([
    ['eth_getBlockReceipts', ['0x5'], [receipt(0), receipt(1)]],
    ['eth_getBlockReceipts', ['latest'], [receipt(0)]],
    ['eth_getBlockReceipts', [{ blockHash: HASH }], [receipt(0, { blockHash: HASH.toUpperCase() })]],
    ['eth_getBlockReceipts', ['0x5'], []],
    ['eth_getBlockByNumber', ['0xa', false], { number: '0xA', hash: null, transactions: [] }],
    ['eth_getLogs', [{ blockHash: HASH }], [{ blockNumber: '0xA', blockHash: `0x${'A'.repeat(64)}` }]],
    [
      'eth_createAccessList',
      [{}],
      { accessList: [{ address: ADDRESS, storageKeys: [] }], gasUsed: '0x5208' },
    ],
    ['eth_createAccessList', [{}], { accessList: [], error: 'execution reverted', gasUsed: '0x5208' }],
    // Nodes fill gaps between the requested blocks with empty ones.
    ['eth_simulateV1', [simulated(2, 1)], results(2, 0, 0, 1)],
    ['eth_simulateV1', [simulated()], []],
    ['eth_getTransactionBySenderAndNonce', [ADDRESS, '0x5'], { from: ADDRESS, nonce: '0x5' }],
  ])('of %s', (method, params, value) => check(method, params, value));
});

describe('checkAnswer rejects an invalid result', () => {
  it.each<[string, [params: readonly unknown[], value: unknown], string]>([
    ['eth_getBlockReceipts', [['0x6'], [receipt(0)]], 'of block 6'],
    ['eth_getBlockReceipts', [[{ blockHash: OTHER_HASH }], [receipt(0)]], 'expected receipts of block'],
    ['eth_getBlockReceipts', [['0x5'], [receipt(0), receipt(2)]], 'receipt 1 is of transaction 0x2'],
    ['eth_getBlockReceipts', [['0x5'], [receipt(1), receipt(0)]], 'receipt 0 is of transaction 0x1'],
    ['eth_getBlockReceipts', [['0x5'], [receipt(0), receipt(1, { blockHash: OTHER_HASH })]], 'two different'],
    ['eth_getBlockReceipts', [['0x5'], [null]], 'not an object'],
    ['eth_getBlockReceipts', [['0x5'], {}], 'not of type list'],
    ['eth_createAccessList', [[{}], { accessList: {}, gasUsed: '0x1' }], 'access list'],
    ['eth_createAccessList', [[{}], { accessList: [1], gasUsed: '0x1' }], 'access list'],
    ['eth_createAccessList', [[{}], { accessList: [] }], 'gasUsed'],
    ['eth_simulateV1', [[simulated(2)], results(1)], '2 calls'],
    ['eth_simulateV1', [[simulated(1)], results(1, 1)], '1 calls'],
    ['eth_simulateV1', [[simulated(1)], [{}]], 'no list of calls'],
    ['eth_getTransactionBySenderAndNonce', [[ADDRESS, '0x5'], { from: ADDRESS, nonce: '0x6' }], 'nonce'],
    ['eth_getTransactionBySenderAndNonce', [[ADDRESS, '0x5'], { from: HASH, nonce: '0x5' }], 'sender'],
    ['eth_blobBaseFee', [[], 5], 'not of type quantity'],
  ])('of %s', (method, [params, value], message) => {
    expect(() => check(method, params, value)).toThrow(message);
  });
});
