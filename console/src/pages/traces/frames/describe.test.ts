import { describe, expect, it } from 'vitest';
import type { Trace } from '../types.ts';
import { treeOf } from './callTree.ts';
import { keyOfTrace, valueMoved, whyNotMoved } from './describe.ts';

const call = (callType: string, traceAddress: readonly number[] = [], error?: string) =>
  ({
    type: 'call',
    traceAddress,
    subtraces: 0,
    transactionHash: '0x1',
    transactionPosition: 0,
    blockHash: '0x2',
    blockNumber: 1,
    result: { gasUsed: '0x1', output: '0x' },
    ...(error && { error }),
    action: { callType, from: '0x', to: '0x', gas: '0x1', input: '0x', value: '0x7' },
  }) as Trace;

describe('movedBy', () => {
  it('returns the value of a call, and zero for all other call types', () => {
    expect(valueMoved(call('call'))).toBe(7n);
    for (const callType of ['delegatecall', 'callcode', 'staticcall'])
      expect(valueMoved(call(callType)), callType).toBe(0n);
  });

  it('returns the balance of a destroyed contract', () => {
    const trace = { ...call('call'), type: 'suicide', action: { balance: '0x5' } } as unknown as Trace;
    expect(valueMoved(trace)).toBe(5n);
  });

  it('returns zero for a failed frame and for all frames below it', () => {
    const root = treeOf([
      call('call'),
      call('call', [0], 'Reverted'),
      call('call', [0, 0]),
      call('call', [1]),
    ]);
    const [failed, second] = root?.children ?? [];
    const below = failed?.children[0];
    expect(
      [root, failed, below, second].map((frame) => frame && valueMoved(frame.trace, frame.isUndone)),
    ).toEqual([7n, 0n, 0n, 7n]);
    expect(below && whyNotMoved(below.trace, below.isUndone)).toBe('its caller failed');
  });
});

it('keyOfTrace returns different keys for the rewards of a block, also for one author', () => {
  const reward = (rewardType: string, value: string) =>
    ({
      type: 'reward',
      traceAddress: [],
      transactionHash: null,
      blockHash: '0x2',
      action: { author: '0x1', rewardType, value },
    }) as unknown as Trace;
  const keys = [reward('block', '0x5'), reward('uncle', '0x4'), reward('uncle', '0x3')].map(keyOfTrace);
  expect(new Set(keys).size).toBe(3);
});
