import { expect, it } from 'vitest';
import type { Trace } from '../types.ts';
import { treeOf } from './callTree.ts';
import { flameOf } from './flame.ts';

const frame = (traceAddress: readonly number[], gasUsed: number | undefined) =>
  ({
    type: 'call',
    traceAddress,
    action: { callType: 'call', value: '0x0', input: '0x' },
    result: gasUsed === undefined ? null : { gasUsed: `0x${gasUsed.toString(16)}`, output: '0x' },
  }) as unknown as Trace;
const flame = (...traces: Trace[]) => {
  const root = treeOf(traces);
  return root && flameOf(root).map(({ frame: { path }, left, width }) => [path, left, width]);
};

it('places children beside each other, inside of their caller', () => {
  expect(
    flame(
      frame([], 1000),
      frame([0], 500),
      frame([0, 0], 100),
      frame([0, 1], 250),
      frame([1], 250),
      frame([2], 1),
    ),
  ).toEqual([
    ['', 0, 100],
    ['0', 0, 50],
    ['1', 50, 25],
    ['0.0', 0, 10],
    ['0.1', 10, 25],
  ]);
});

it('never draws children wider than their caller, and draws nothing without the gas of the root', () => {
  expect(flame(frame([], 100), frame([0], 80), frame([1], 80), frame([2], undefined))).toEqual([
    ['', 0, 100],
    ['0', 0, 80],
    ['1', 80, 20],
  ]);
  expect(flame(frame([], undefined), frame([0], 80))).toEqual([]);
});

it('draws at most 1,000 boxes and twelve levels', () => {
  const line = Array.from({ length: 40 }, (_, i) =>
    frame(
      Array.from({ length: i }, () => 0),
      100,
    ),
  );
  expect(flame(...line)).toHaveLength(12);
  const wide = Array.from({ length: 5_000 }, (_, i) => frame([i], 100));
  expect(flame(frame([], 500_000), ...wide)).toHaveLength(1);
});
