import { describe, expect, it } from 'vitest';
import { blockRulesAt } from './chains/blockRules.ts';
import { chainRulesOf } from './chains/chainRulesOf.ts';
import { checkBlock } from './check/checkBlock.ts';
import { parseHeader } from './parseHeader.ts';
import { parseTraceBlock } from './parseTraceBlock.ts';

const BLOCK = `0x${'b1'.repeat(32)}`;
const TX = `0x${'7a'.repeat(32)}`;
const ALICE = `0x${'a1'.repeat(20)}`;
const BOB = `0x${'b0'.repeat(20)}`;
const precompile = (low: string) => `0x${low.padStart(40, '0')}`;

const place = {
  blockHash: BLOCK,
  blockNumber: 7,
  subtraces: 0,
  traceAddress: [] as number[],
  transactionHash: TX,
  transactionPosition: 0,
};
const callAction = { callType: 'call', from: ALICE, gas: '0x10', input: '0x', to: BOB, value: '0x0' };
const call = {
  action: callAction,
  ...place,
  result: { gasUsed: '0x1', output: '0x' } as unknown,
  type: 'call',
};
const create = {
  action: { creationMethod: 'create', from: ALICE, gas: '0x10', init: '0x60', value: '0x0' } as object,
  ...place,
  result: { address: BOB, code: '0x', gasUsed: '0x1' } as unknown,
  type: 'create',
};
const reward = {
  action: { author: ALICE, rewardType: 'block', value: '0x1' },
  blockHash: BLOCK,
  blockNumber: 7,
  result: null,
  subtraces: 0,
  traceAddress: [],
  type: 'reward',
};

const parsed = (...traces: unknown[]) => parseTraceBlock(structuredClone(traces));
const one = (trace: unknown) => parsed(trace)[0];

describe('parseTraceBlock', () => {
  it('returns keys in alphabetical order, independent of the order that the node sends', () => {
    const reversed = Object.fromEntries(Object.entries({ ...call, error: 'Reverted' }).reverse());
    expect(Object.keys(one(reversed) ?? {})).toEqual([
      'action',
      'blockHash',
      'blockNumber',
      'error',
      'result',
      'subtraces',
      'traceAddress',
      'transactionHash',
      'transactionPosition',
      'type',
    ]);
    expect(Object.keys(one(reversed)?.action ?? {})).toEqual(Object.keys(callAction));
  });

  it('converts addresses, hashes and data to lower case and removes leading zeros of quantities', () => {
    const shouting = {
      ...call,
      action: { ...callAction, from: ALICE.toUpperCase(), gas: '0x00AB', input: '0xABCD' },
      blockHash: BLOCK.toUpperCase(),
    };
    expect(one(shouting)).toMatchObject({
      action: { from: ALICE, gas: '0xab', input: '0xabcd' },
      blockHash: BLOCK,
    });
  });

  it('reads absent data as empty and an absent value as zero', () => {
    const { input: _, value: __, ...action } = callAction;
    expect(one({ ...call, action, result: { gasUsed: '0x1' } })).toMatchObject({
      action: { input: '0x', value: '0x0' },
      result: { output: '0x' },
    });
  });

  it('omits creationMethod if the node does not send it', () => {
    const trace = one({ ...create, action: { from: ALICE, gas: '0x10', init: '0x60', value: '0x0' } });
    expect(trace?.action).not.toHaveProperty('creationMethod');
  });

  it.each([
    ['out of gas', 'Out of gas'],
    ['out of gas: not enough gas for reentrancy sentry', 'Out of gas'],
    ['out of gas: write protection', 'Mutable Call In Static Context'],
    ['contract creation code storage out of gas', 'Out of gas'],
    ['gas uint64 overflow', 'Out of gas'],
    ['max code size exceeded', 'Out of gas'],
    ['invalid jump destination', 'Bad jump destination'],
    ['invalid opcode: opcode 0xfe not defined', 'Bad instruction'],
    ['Invalid opcode: 0x0c', 'Bad instruction'],
    ['stack underflow (0 <=> 1)', 'Stack underflow'],
    ['stack limit reached 1024 (1023)', 'Out of stack'],
    ['return data out of bounds', 'Out of bounds'],
    ['precompiled failed', 'Built-in failed'],
    ['Illegal state change', 'Mutable Call In Static Context'],
    ['Static call violation', 'Mutable Call In Static Context'],
    ['StateChangeDuringStaticCall', 'Mutable Call In Static Context'],
    ['contract address collision', 'Contract address collision'],
    ['something new', 'something new'],
  ])('names the failure "%s" as "%s", without a result', (error, name) => {
    expect(one({ ...call, error })).toMatchObject({ error: name, result: null });
  });

  it('keeps an unknown error text as plain text of bounded length', () => {
    const { error } = one({ ...call, error: `\u001b[31mé${'x'.repeat(5000)}` }) as { error: string };
    expect(error).toMatch(/^[\x20-\x7e]{100}$/);
  });

  it('reads null and empty errors as no error', () => {
    for (const error of [null, ''])
      expect(one({ ...call, error })).toEqual({ ...call, result: { gasUsed: '0x1', output: '0x' } });
  });

  it('keeps the result of a reverted call', () => {
    expect(one({ ...call, error: 'execution reverted' })).toMatchObject({
      error: 'Reverted',
      result: call.result,
    });
  });

  it('sets the result of a reverted frame to null if the node omits it', () => {
    const { result: _, ...without } = call;
    const besu = { ...without, error: 'Reverted', revertReason: '0x7d88c1856cc95352' };
    expect(one(besu)).toEqual({ ...without, error: 'Reverted', result: null });
  });

  it.each([
    ['as output, like the trace draft', { gasUsed: '0x1', output: '0xdead' }],
    ['as code', { code: '0xdead', gasUsed: '0x1' }],
    [
      'as code, with the address of the contract that was not created',
      { address: BOB, code: '0xdead', gasUsed: '0x1' },
    ],
  ])('keeps the output of a reverted creation that the node sends %s', (_, result) => {
    const trace = one({ ...create, error: 'Reverted', result });
    expect(JSON.stringify(trace?.result)).toBe('{"gasUsed":"0x1","output":"0xdead"}');
  });

  it('adds the null members of rewards, and drops zero rewards, withdrawals and rewards of the genesis block', () => {
    const nothing = { ...reward, action: { ...reward.action, value: '0x0' } };
    const withdrawal = { ...reward, action: { ...reward.action, rewardType: 'withdrawal' } };
    expect(parsed(reward, nothing, withdrawal, { ...reward, blockNumber: 0 })).toEqual([
      { ...reward, transactionHash: null, transactionPosition: null },
    ]);
  });

  it('removes nested calls of precompiled contracts without value, with any opcode, and renumbers the rest', () => {
    const root = { ...call, subtraces: 5 };
    const child = (index: number, action: object, more: object = {}) => ({
      ...call,
      action: { ...callAction, ...action },
      traceAddress: [index],
      ...more,
    });
    const traces = parsed(
      root,
      child(0, { to: precompile('1'), callType: 'staticcall' }),
      child(1, {}, { subtraces: 1 }),
      { ...call, traceAddress: [1, 0] },
      child(2, { to: precompile('100'), callType: 'delegatecall' }),
      child(3, { to: precompile('2'), value: '0x1' }),
      child(4, { to: precompile('12') }),
    );
    expect(traces.map((trace) => [trace.traceAddress, trace.subtraces])).toEqual([
      [[], 3],
      [[0], 1],
      [[0, 0], 0],
      [[1], 0],
      [[2], 0],
    ]);
  });

  it('keeps a root call of a precompiled contract, and a nested call of an empty account before the fork', () => {
    const root = { ...call, action: { ...callAction, to: precompile('1') }, subtraces: 1 };
    const empty = {
      ...call,
      action: { ...callAction, to: precompile('9') },
      result: { gasUsed: '0x0', output: '0x' },
      traceAddress: [0],
    };
    expect(parsed(root, empty)).toHaveLength(2);
  });

  it('removes a nested call of a precompiled contract without gas and output if the forks of the chain are known', () => {
    const root = { ...call, subtraces: 1 };
    const idle = {
      ...call,
      action: { ...callAction, to: precompile('5') },
      result: { gasUsed: '0x0', output: '0x' },
      traceAddress: [0],
    };
    const under = (number: number) =>
      parseTraceBlock(structuredClone([root, idle]), blockRulesAt(chainRulesOf(1), { number, timestamp: 0 }));
    expect(under(4_370_000)).toHaveLength(1);
    expect(under(4_369_999)).toHaveLength(2);
  });

  it('keeps a reverted call of a precompile address, because it is a contract of another chain', () => {
    const reverted = {
      ...call,
      action: { ...callAction, to: precompile('9') },
      error: 'Reverted',
      traceAddress: [0],
    };
    expect(parsed({ ...call, subtraces: 1 }, reverted)[1]).toMatchObject({
      error: 'Reverted',
      result: call.result,
    });
  });

  it('removes calls and creations that failed the checks of balance or depth before they ran', () => {
    const traces = parsed(
      { ...call, subtraces: 3 },
      { ...call, traceAddress: [0], error: 'insufficient balance for transfer', result: undefined },
      { ...create, traceAddress: [1], error: 'CallTooDeep', result: null },
      { ...call, traceAddress: [2] },
    );
    expect(traces.map((trace) => [trace.traceAddress, trace.subtraces])).toEqual([
      [[], 1],
      [[0], 0],
    ]);
  });

  it.each([
    ['a null result', null, 'trace_block must be an array of at most 1000000, the node sent null'],
    ['a null element', [null], 'trace 0 must be an object, the node sent null'],
    [
      'an unknown type',
      [{ ...call, type: 'jump' }],
      'trace 0: type must be call, create, suicide or reward, the node sent "jump"',
    ],
    [
      'a short address',
      [call, { ...call, action: { ...callAction, to: '0x12' } }],
      'trace 1: action.to must be 20 bytes',
    ],
    [
      'a quantity without digits',
      [{ ...call, action: { ...callAction, gas: '0x' } }],
      'action.gas must be a number',
    ],
    ['a quantity in decimals', [{ ...call, action: { ...callAction, gas: 21000 } }], 'sent number 21000'],
    ['a long quantity', [{ ...call, action: { ...callAction, gas: `0x${'1'.repeat(65)}` } }], 'action.gas'],
    ['half bytes', [{ ...call, action: { ...callAction, input: '0xabc' } }], 'action.input must be bytes'],
    [
      'odd characters',
      [{ ...call, action: { ...callAction, input: `0x${'0'.repeat(99)}g` } }],
      'action.input',
    ],
    [
      'look-alike digits',
      [{ ...call, action: { ...callAction, input: `0x${'\u0130'.repeat(100)}` } }],
      'action.input',
    ],
    ['a missing result', [{ ...call, result: undefined }], 'result must be an object, the node sent nothing'],
    ['a missing address', [{ ...create, result: { code: '0x', gasUsed: '0x0' } }], 'result.address'],
    ['a fraction', [{ ...call, subtraces: 1.5 }], 'subtraces must be a whole number'],
    [
      'a deep path',
      [{ ...call, traceAddress: Array(1026).fill(0) }],
      'traceAddress must be an array of at most 1025',
    ],
    ['a path of strings', [{ ...call, traceAddress: ['0'] }], 'traceAddress must be a whole number'],
    ['an error object', [{ ...call, error: {} }], 'error must be a string'],
    [
      'an unknown reward type',
      [{ ...reward, action: { ...reward.action, rewardType: 'emptyStep' } }],
      'action.rewardType',
    ],
  ])('rejects %s with a message that names the member', (_, answer, message) => {
    expect(() => parseTraceBlock(answer)).toThrow(
      expect.objectContaining({ name: 'TraceFormatError', message: expect.stringContaining(message) }),
    );
  });
});

describe('checkBlock', () => {
  const second = `0x${'7b'.repeat(32)}`;
  const header = parseHeader({
    number: '0x7',
    hash: BLOCK,
    parentHash: BLOCK,
    timestamp: '0x0',
    gasLimit: '0x0',
    gasUsed: '0x0',
    transactions: [TX, second],
  });
  const root = { ...call, subtraces: 2 };
  const left = { ...call, traceAddress: [0], subtraces: 1 };
  const leaf = { ...call, traceAddress: [0, 0] };
  const right = { ...call, traceAddress: [1] };
  const next = { ...call, transactionHash: second, transactionPosition: 1 };
  const uncle = { ...reward, action: { ...reward.action, rewardType: 'uncle' } };
  const check = (...traces: unknown[]) => checkBlock(header, parsed(...traces));

  it('accepts the complete traces of a block', () => {
    expect(() => check(root, left, leaf, right, next, reward, uncle, uncle)).not.toThrow();
  });

  it.each([
    ['another block hash', [root, left, leaf, right, { ...next, blockHash: TX }, reward], 'has block hash'],
    ['another number', [{ ...root, blockNumber: 8 }], 'trace 0 has block number 8'],
    ['a missing transaction', [root, left, leaf, right, reward], 'transaction 1 of 2 has no traces'],
    ['a surplus transaction', [call, next, next], 'belongs to transaction 2, the block has 2'],
    ['transactions out of order', [next, call], 'has transaction position 1, expected 0'],
    ['the wrong hash', [call, { ...next, transactionHash: TX }], 'has transaction hash'],
    ['a frame of another transaction', [root, { ...left, transactionPosition: 1 }], 'expected 0'],
    ['a missing root', [left], 'not the root frame'],
    ['a missing last child', [root, left, leaf, next], 'a frame at depth 0 has 1 children, but subtraces 2'],
    ['a missing grandchild', [root, left, right, next], 'a frame at depth 1 has 0 children, but subtraces 1'],
    [
      'a surplus child',
      [root, left, leaf, right, { ...right, traceAddress: [2] }, next],
      'has 3 children, but subtraces 2',
    ],
    ['a skipped child', [root, right], 'out of order'],
    ['a child without parent', [root, leaf], 'no parent'],
    ['a repeated frame', [root, left, leaf, leaf], 'out of order'],
    ['the wrong branch', [root, left, leaf, right, { ...leaf, traceAddress: [0, 1] }], 'out of order'],
    ['a frame after a reward', [call, reward, next], 'a frame after a reward'],
    ['an uncle before the block', [call, next, uncle, reward], 'a block reward after another reward'],
    ['two block rewards', [call, next, reward, reward], 'a block reward after another reward'],
  ])('rejects %s', (_, traces, reason) => {
    expect(() => check(...traces)).toThrow(
      expect.objectContaining({ name: 'BlockMismatchError', reason: expect.stringContaining(reason) }),
    );
  });

  it('rejects a genesis block with traces', () => {
    const genesis = { ...header, number: 0, transactionHashes: header.transactionHashes.slice(0, 1) };
    expect(() => checkBlock(genesis, parsed({ ...call, blockNumber: 0 }))).toThrow('genesis');
  });
});
