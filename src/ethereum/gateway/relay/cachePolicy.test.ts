import { describe, expect, it } from 'vitest';
import type { RelayedRow, RelayScope } from '../methods/row.ts';
import { type CachePolicy, cachePolicyOf, foundIn, headIn, highestBlockIn, isLookUp } from './cachePolicy.ts';

const row = (scope: RelayScope, members: Partial<RelayedRow> = {}): RelayedRow => ({
  name: 'eth_method',
  summary: '',
  params: [],
  result: 'any',
  scope,
  ...members,
});
const constant = row({ of: 'constant' });
const moment = row({ of: 'moment' });
const head = row({ of: 'head' });
const logs = row({ of: 'logs' });
const found = row({ of: 'found', member: 'blockNumber' }, { nullable: true });
const block = row({ of: 'block', param: 1 });

const TAGS = ['latest', 'safe', 'finalized', 'earliest', 'pending'];

describe('the cache policy', () => {
  it.each<[string, RelayedRow, unknown[], CachePolicy]>([
    ['of a constant', constant, [], 'constant'],
    ['of a result that contains its block', found, ['0x1'], 'found'],
    ['of a result that depends on the node and the time', moment, [], 'never'],
    ['of the head', head, [], 'never'],
    ['of a block number', block, ['0x1', '0x1f'], 31],
    ['of the genesis block', block, ['0x1', '0x0'], 0],
    ['of a block by hash', block, ['0x1', { blockHash: '0x1f' }], 'never'],
    ['of a missing block', block, ['0x1f'], 'never'],
    ['of logs of a range is that of the last block', logs, [{ fromBlock: '0x1', toBlock: '0x1f' }], 31],
    ['of logs of a block by hash', logs, [{ blockHash: '0x1f' }], 'never'],
    ['of logs up to a tag', logs, [{ fromBlock: '0x1', toBlock: 'latest' }], 'never'],
    ['of logs from a tag', logs, [{ fromBlock: 'earliest', toBlock: '0x1f' }], 'never'],
  ])('%s', (_, ...[asked, params, policy]) => {
    expect(cachePolicyOf(asked, params)).toBe(policy);
  });

  it.each(TAGS)('of a block tag is never to cache: %s', (tag) => {
    expect(cachePolicyOf(block, ['0x1', tag])).toBe('never');
  });
});

describe('the highest block in the parameters', () => {
  it.each<[string, RelayedRow, unknown[], number]>([
    ['is the block', block, ['0xff', '0x1f'], 31],
    ['is block 0', block, ['0xff', '0x0'], 0],
    ['is none for a tag', block, ['0xff', 'latest'], -1],
    ['is none for a block hash', block, ['0xff', { blockHash: '0x1f' }], -1],
    ['is the end of a range of logs', logs, [{ fromBlock: '0x1', toBlock: '0x1f' }], 31],
    ['is the start of a range up to a tag', logs, [{ fromBlock: '0x1f', toBlock: 'latest' }], 31],
    ['is the larger one of a reversed range', logs, [{ fromBlock: '0x2f', toBlock: '0x1f' }], 47],
    ['is none for logs of a block hash', logs, [{ blockHash: '0x1f' }], -1],
    ['is none for other scopes', found, ['0x1f'], -1],
    ['is none for a constant', constant, ['0x1f'], -1],
  ])('%s', (_, ...[asked, params, number]) => {
    expect(highestBlockIn(asked, params)).toBe(number);
  });
});

it('a look-up is a request by hash, or of an object that may not exist', () => {
  const nullableBlock = row({ of: 'block', param: 0 }, { nullable: true, isBlockItself: true });
  const inBlock = row({ of: 'block', param: 0 }, { nullable: true });
  expect(isLookUp(found, ['0x1'])).toBe(true);
  expect(isLookUp({ ...found, nullable: undefined } as unknown as RelayedRow, ['0x1'])).toBe(false);
  expect(isLookUp(nullableBlock, [{ blockHash: '0x1' }])).toBe(true);
  expect(isLookUp(nullableBlock, ['0x1'])).toBe(false);
  expect(isLookUp(inBlock, ['0x1', '0x0'])).toBe(true);
  expect(isLookUp(block, ['0x1', { blockHash: '0x1' }])).toBe(false);
});

it('the block of a found result is read from the member of its row', () => {
  expect(foundIn(found, { blockNumber: '0x1f', number: '0x2f' })).toBe(31);
  expect(foundIn(row({ of: 'found', member: 'number' }), { blockNumber: '0x1f', number: '0x2f' })).toBe(47);
  for (const value of [
    null,
    '0x1f',
    undefined,
    {},
    { blockNumber: null },
    { blockNumber: 31 },
    { blockNumber: '31' },
  ])
    expect(foundIn(found, value)).toBeUndefined();
  expect(foundIn(block, { blockNumber: '0x1f' })).toBeUndefined();
});

it('the head is in the result of eth_blockNumber and of the block latest', () => {
  const blockItself = row({ of: 'block', param: 0 }, { isBlockItself: true });
  expect(headIn(head, [], '0x1f')).toBe(31);
  expect(headIn(head, [], '0x1F')).toBe(31);
  expect(headIn(blockItself, ['latest'], { number: '0x1f' })).toBe(31);
  expect(headIn(blockItself, ['safe'], { number: '0x1f' })).toBeUndefined();
  expect(headIn(blockItself, ['latest'], null)).toBeUndefined();
  expect(headIn(blockItself, ['latest'], {})).toBeUndefined();
  expect(headIn(blockItself, ['latest'], '0x1f')).toBeUndefined();
  expect(headIn(row({ of: 'block', param: 0 }), ['latest'], { number: '0x1f' })).toBeUndefined();
});

it('a number above 56 bits or without 0x is not a block number', () => {
  expect(headIn(head, [], `0x${'f'.repeat(14)}`)).toBe(2 ** 56);
  for (const value of [`0x1${'0'.repeat(14)}`, '0x', '1f', ' 0x1f', '0x1g', 31, null])
    expect(headIn(head, [], value)).toBeUndefined();
});
