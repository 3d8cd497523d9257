import { expect, it } from 'vitest';
import type { Address } from '../../../traces/index.ts';
import type { Frame } from '../traces/replayed.ts';
import { internalOperations, traceEntries } from './frameEntries.ts';

const address = (byte: string) => `0x${byte.repeat(20)}` as Address; // 20 bytes of lower-case hex
const [A, B, C] = [address('aa'), address('bb'), address('cc')];
const PRECOMPILE = address('01');
const CALL = { callType: 'call', from: A, gas: '0x1', input: '0x01', to: B, value: '0x0' };
const RESULT = { gasUsed: '0x0', output: '0xcafe' };

const frame = (traceAddress: readonly number[], type: Frame['type'], members: object): Frame =>
  ({ traceAddress, type, result: RESULT, subtraces: 0, ...members }) as unknown as Frame; // the members that are read

const call = (traceAddress: readonly number[], action: object = {}, more: object = {}): Frame =>
  frame(traceAddress, 'call', { action: { ...CALL, ...action }, ...more });

const DESTRUCTION = { action: { address: B, balance: '0x5', refundAddress: C }, result: null };
const CREATION = { action: { creationMethod: 'create2', from: B, gas: '0x1', init: '0x60', value: '0x0' } };

it('ots_traceTransaction leaves out calls of precompiled contracts below the root, with value too', () => {
  const frames = [
    call([], { to: PRECOMPILE }),
    call([0], { to: PRECOMPILE }),
    call([1], { to: PRECOMPILE, value: '0x1' }),
    call([2]),
  ];
  const entries = traceEntries('0x', new Set([PRECOMPILE]))(frames);
  expect(entries.map(({ to, depth }) => [to, depth])).toEqual([
    [PRECOMPILE, 0],
    [B, 1],
  ]);
});

it('ots_traceTransaction lists a destruction one level below the previous entry, like Erigon', () => {
  const frames = [call([]), call([0]), call([0, 0]), frame([1], 'suicide', DESTRUCTION)];
  expect(traceEntries('0x', new Set())(frames).at(-1)).toEqual({
    type: 'SELFDESTRUCT',
    depth: 3,
    from: B,
    to: C,
    value: '0x5',
    input: '0x',
    output: '0x',
  });
});

it.each([
  ['staticcall', null],
  ['delegatecall', null],
  ['callcode', '0x7'],
  ['call', '0x7'],
])('ots_traceTransaction shows the value of a %s as %s', (callType, value) => {
  const entries = traceEntries('0x', new Set())([call([]), call([0], { callType, value: '0x7' })]);
  expect(entries[1]).toMatchObject({ type: callType.toUpperCase(), value, output: '0xcafe' });
});

it('ots_traceTransaction shows revert data, and 0x if a failure has none', () => {
  const reverted = call([0], {}, { error: 'Reverted' });
  const withoutData = call([1], {}, { error: 'Reverted', result: null });
  const outOfGas = call([2], {}, { error: 'Out of gas', result: null });
  const entries = traceEntries('0xdd', new Set())([call([]), reverted, withoutData, outOfGas]);
  expect(entries.map(({ output }) => output)).toEqual(['0xdd', '0xcafe', '0x', '0x']);
});

it('a creation has its code as output, and no recipient if it failed', () => {
  const made = frame([0], 'create', { ...CREATION, result: { address: C, code: '0xc0de', gasUsed: '0x1' } });
  const failed = frame([1], 'create', { ...CREATION, error: 'Out of gas', result: null });
  const entries = traceEntries('0x', new Set())([call([]), made, failed]);
  expect(entries.slice(1)).toEqual([
    { type: 'CREATE2', depth: 1, from: B, to: C, value: '0x0', input: '0x60', output: '0xc0de' },
    { type: 'CREATE2', depth: 1, from: B, to: null, value: '0x0', input: '0x60', output: '0x' },
  ]);
});

it('ots_getInternalOperations lists transfers, creations and destructions below the root, reverted ones too', () => {
  const frames = [
    call([], { value: '0x1' }),
    call([0], { value: '0x2' }, { error: 'Reverted' }),
    call([1]),
    call([2], { callType: 'callcode', value: '0x3' }),
    call([3], { callType: 'delegatecall', value: '0x4' }),
    frame([4], 'suicide', DESTRUCTION),
    frame([5], 'create', {
      action: { creationMethod: 'create', from: A, gas: '0x1', init: '0x', value: '0x0' },
      result: { address: C, code: '0x', gasUsed: '0x1' },
    }),
    frame([6], 'create', { ...CREATION, result: { address: C, code: '0x', gasUsed: '0x1' } }),
  ];
  expect(internalOperations(frames)).toEqual([
    { type: 0, from: A, to: B, value: '0x2' },
    { type: 1, from: B, to: C, value: '0x5' },
    { type: 2, from: A, to: C, value: '0x0' },
    { type: 3, from: B, to: C, value: '0x0' },
  ]);
});
