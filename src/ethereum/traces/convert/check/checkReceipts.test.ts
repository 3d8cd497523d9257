import { describe, expect, it } from 'vitest';
import type { BlockHeader, Hash, Trace } from '../../index.ts';
import { checkReceipts } from './checkReceipts.ts';

const hash = (digit: string) => `0x${digit.repeat(64)}` as Hash; // 32 bytes
const header: BlockHeader = {
  number: 7,
  hash: hash('a'),
  parentHash: hash('b'),
  timestamp: 0,
  transactionHashes: [hash('1'), hash('2')],
};
const root = (position: number, error?: string) =>
  ({
    type: 'call',
    traceAddress: [],
    transactionPosition: position,
    ...(error !== undefined && { error }),
  }) as unknown as Trace; // the members that are read
const traces = [
  root(0),
  { ...root(0, 'Reverted'), traceAddress: [0] } as Trace, // a frame of the kind that `root` returns
  root(1, 'Reverted'),
];
const receipt = (digit: string, status: string | undefined, more = {}) => ({
  transactionHash: hash(digit),
  blockHash: hash('a'),
  status,
  ...more,
});

describe('receipts', () => {
  it.each([
    ['of one successful and one failed transaction', [receipt('1', '0x1'), receipt('2', '0x0')]],
    ['without a status', [receipt('1', undefined, { root: hash('0') }), receipt('2', undefined)]],
    [
      'with an additional receipt of the network',
      [receipt('1', '0x1'), receipt('2', '0x0'), receipt('a', '0x1')],
    ],
    ['with upper-case hashes', [receipt('1', '0x1', { blockHash: hash('A') }), receipt('2', '0x0')]],
  ])('%s are accepted', (_, receipts) => {
    expect(() => checkReceipts(header, traces, receipts)).not.toThrow();
  });

  it.each([
    [
      'of a failed transaction whose root has no error',
      [receipt('1', '0x0'), receipt('2', '0x0')],
      'transaction 0',
    ],
    ['in another order', [receipt('2', '0x0'), receipt('1', '0x1')], 'receipt 0'],
    ['of too few transactions', [receipt('1', '0x1')], 'receipt 1'],
    ['of another block', [receipt('1', '0x1', { blockHash: hash('c') }), receipt('2', '0x0')], 'of block'],
    ['that are no objects', [null, 1], 'receipt 0'],
    ['that are no list', {}, 'not a list'],
  ])('%s are rejected', (_, receipts, text) => {
    expect(() => checkReceipts(header, traces, receipts)).toThrow(text);
  });
});
