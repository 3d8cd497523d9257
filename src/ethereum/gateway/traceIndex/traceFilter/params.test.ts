import { describe, expect, it } from 'vitest';
import { RpcError } from '../../../jsonrpc/index.ts';
import { DEFAULT_LIMITS } from '../../callLimits.ts';
import {
  checkOrder,
  checkTraceFilter,
  checkWidth,
  type TraceFilterParams,
  traceFilterObject,
  unknownMembers,
} from './params.ts';
import { readBlockBound, readQuantity } from './quantity.ts';
import { quoted } from './quoted.ts';

const A = `0x${'ab'.repeat(20)}`;
const B = `0x${'cd'.repeat(20)}`;
const HASH = `0x${'1f'.repeat(32)}`;
const read = (filter: unknown, limits = DEFAULT_LIMITS) => {
  const asked = traceFilterObject.read(filter, 'filter') as TraceFilterParams; // the type of its result
  checkTraceFilter(asked, limits);
  return asked;
};

function errorOf(run: () => unknown): RpcError {
  try {
    run();
  } catch (error) {
    if (error instanceof RpcError) return error;
    throw error;
  }
  throw new Error('accepted');
}

describe('a filter', () => {
  const DEFAULTS = {
    from: 'latest',
    to: 'latest',
    blockHash: undefined,
    fromAddresses: [],
    toAddresses: [],
    mode: 'intersection',
    after: 0,
    count: undefined,
  };

  it('has defaults for members that are missing or null', () => {
    const members = [
      'fromBlock',
      'toBlock',
      'blockHash',
      'fromAddress',
      'toAddress',
      'mode',
      'after',
      'count',
    ];
    expect(read({})).toEqual(DEFAULTS);
    expect(read(Object.fromEntries(members.map((member) => [member, null])))).toEqual(DEFAULTS);
  });

  it('has the members that are given', () => {
    const given = {
      fromBlock: '0x1',
      toBlock: 2,
      fromAddress: A,
      toAddress: [B],
      mode: 'union',
      after: '0x3',
      count: 0,
    };
    expect(read(given)).toEqual({
      ...DEFAULTS,
      from: 1,
      to: 2,
      fromAddresses: [A],
      toAddresses: [B],
      mode: 'union',
      after: 3,
      count: 0,
    });
    expect(read({ blockHash: HASH.toUpperCase().replace('X', 'x') })).toMatchObject({ blockHash: HASH });
  });

  it('has each address once, in lower case', () => {
    const upper = `0x${'AB'.repeat(20)}`;
    expect(read({ fromAddress: [A, upper, B, A] })).toMatchObject({ fromAddresses: [A, B] });
    expect(read({ toAddress: [] })).toMatchObject({ toAddresses: [] });
  });

  it.each([
    ['filter is null', null],
    ['filter is a list', []],
    ['filter is "x"', 'x'],
    ['the filter has unknown members: "fromblock"', { fromblock: 1 }],
    [`fromAddress is "0x12"`, { fromAddress: '0x12' }],
    [`toAddress[1] is "${A}0"`, { toAddress: [A, `${A}0`] }],
    ['toAddress[0] is null', { toAddress: [null] }],
    ['mode is "both"; it must be "intersection" or "union"', { mode: 'both' }],
    ['after is -1', { after: -1 }],
    ['count is "1"', { count: '1' }],
    ['fromBlock is "pending"', { fromBlock: 'pending' }],
    ['blockHash', { blockHash: '0x1' }],
    ['fromBlock', { blockHash: HASH, fromBlock: '0x1' }],
    ['toBlock', { blockHash: HASH, toBlock: 'latest' }],
    ['fromBlock 3 is after toBlock 2', { fromBlock: 3, toBlock: 2 }],
  ])('is rejected with -32602 and the message: %s', (text, filter) => {
    const { code, message } = errorOf(() => read(filter));
    expect([code, message]).toEqual([-32602, expect.stringContaining(text)]);
  });

  it.each([
    ['blocks', { fromBlock: 1, toBlock: 800 }, { fromBlock: 1, toBlock: 801 }, 800, 801],
    ['traces', { count: 200 }, { count: 201 }, 200, 201],
    ['senders', { fromAddress: Array(1000).fill(A) }, { fromAddress: Array(1001).fill(A) }, 1000, 1001],
    ['recipients', { toAddress: Array(1000).fill(A) }, { toAddress: Array(1001).fill(A) }, 1000, 1001],
  ])(
    'is accepted at the limit of %s, and above it rejected with -32005',
    (_, ...[most, over, limit, requested]) => {
      expect(() => read(most)).not.toThrow();
      expect(errorOf(() => read(over))).toMatchObject({ code: -32005, data: { limit, requested } });
    },
  );

  it('is accepted up to configured limits', () => {
    const limits = { ...DEFAULT_LIMITS, traceFilterBlocks: 5_000, traceFilterCount: 10 };
    expect(() => read({ fromBlock: 1, toBlock: 5_000, count: 10 }, limits)).not.toThrow();
    expect(errorOf(() => read({ count: 11 }, limits))).toMatchObject({ data: { limit: 10, requested: 11 } });
    const tooWide = errorOf(() => read({ fromBlock: 0, toBlock: 5_000 }, limits));
    expect(tooWide).toMatchObject({ code: -32005, data: { limit: 5_000, requested: 5_001 } });
  });

  it('is checked for types before limits', () => {
    expect(errorOf(() => read({ count: 201, fromAddress: 'x' })).code).toBe(-32602);
    expect(errorOf(() => read({ fromBlock: 5000, toBlock: 1, mode: 'x' })).message).toContain('mode');
  });
});

it('a range of one block is in order, and a range is checked only above its limit', () => {
  for (const [from, to] of [
    [0, 0],
    [7, 7],
    [7, 8],
  ] as const) {
    expect(() => checkOrder(from, to)).not.toThrow();
    expect(() => checkWidth(from, to, 800)).not.toThrow();
  }
  expect(() => checkWidth(10, 9, 800)).not.toThrow();
  expect(() => checkOrder(8, 7)).toThrow(RpcError);
});

it('an error names five unknown members at most, each up to 40 characters', () => {
  const names = ['x'.repeat(41), 'b', 'c', 'd', 'e', 'f', 'g'];
  const shown = ['x'.repeat(40), 'b', 'c', 'd', 'e'].map((name) => JSON.stringify(name)).join(', ');
  const message = `the filter has unknown members: ${shown} and 2 more; known are one, two`;
  expect(unknownMembers('the filter', names, ['one', 'two']).message).toBe(message);
  expect(unknownMembers('it', names.slice(1, 6), ['one']).message).not.toContain('more');
});

describe('a quantity', () => {
  it('is a hex string or an integer of at most 2^53 - 1', () => {
    const values = ['0x0', '0x00ff', '0XfF', 0, 255, '0x1fffffffffffff', Number.MAX_SAFE_INTEGER];
    expect(values.map((value) => readQuantity('after', value))).toEqual([
      0,
      255,
      255,
      0,
      255,
      Number.MAX_SAFE_INTEGER,
      Number.MAX_SAFE_INTEGER,
    ]);
    for (const value of [
      -1,
      1.5,
      '1',
      '0x',
      '0x20000000000000',
      2 ** 53,
      `0x${'f'.repeat(15)}`,
      true,
      [1],
      {},
      Number.NaN,
    ])
      expect(errorOf(() => readQuantity('after', value)).code).toBe(-32602);
  });

  it('of a block may be a tag', () => {
    const values = ['latest', 'safe', 'finalized', 'earliest', '0x10', 16, undefined, null];
    expect(values.map((value) => readBlockBound('fromBlock', value))).toEqual([
      'latest',
      'safe',
      'finalized',
      'earliest',
      16,
      16,
      'latest',
      'latest',
    ]);
    for (const value of ['pending', 'Latest', '', -1])
      expect(() => readBlockBound('fromBlock', value)).toThrow(RpcError);
  });
});

it('a quoted value is short', () => {
  const values = ['a"b', 'x'.repeat(60), 'x'.repeat(61), [1], {}, null, 1, true, undefined];
  expect(values.map(quoted)).toEqual([
    '"a\\"b"',
    `"${'x'.repeat(60)}"`,
    `"${'x'.repeat(60)}…"`,
    'a list',
    'an object',
    'null',
    '1',
    'true',
    'undefined',
  ]);
});
