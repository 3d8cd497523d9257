import { expect, it } from 'vitest';
import type { Trace } from '../types.ts';
import { allOpen, countBelow, fold, initiallyOpen, rowsOf, treeOf } from './callTree.ts';

const frame = (traceAddress: readonly number[], error?: string) =>
  ({
    type: 'call',
    traceAddress,
    subtraces: 0,
    transactionHash: '0x1',
    transactionPosition: 0,
    blockHash: '0x2',
    blockNumber: 1,
    ...(error && { error }),
    result: { gasUsed: '0x1', output: '0x' },
    action: { callType: 'call', from: '0x', to: '0x', gas: '0x1', input: '0x', value: '0x0' },
  }) as Trace;
const paths = (rows: ReturnType<typeof rowsOf>) => rows.map((row) => row.frame.path);
const treeWith = (traces: readonly Trace[]) => {
  const root = treeOf(traces);
  if (root === undefined) throw new Error('no tree');
  return root;
};
const children = (count: number, above: readonly number[] = []) =>
  Array.from({ length: count }, (_, i) => frame([...above, i]));

it('unfolds whole levels of the tree while they have at most 200 rows, and the path to the wanted frame', () => {
  const small = treeWith([[], [0], [0, 0], [0, 0, 0], [0, 0, 0, 0], [1]].map((path) => frame(path)));
  expect(paths(rowsOf(small, initiallyOpen(small, undefined)))).toHaveLength(6);
  expect(paths(rowsOf(small, fold(initiallyOpen(small, undefined), '', false)))).toEqual(['']);
  const large = treeWith([
    frame([]),
    ...children(150),
    frame([0, 0]),
    ...children(150, [149]),
    frame([149, 7, 0]),
  ]);
  expect(rowsOf(large, initiallyOpen(large, undefined))).toHaveLength(151);
  expect(paths(rowsOf(large, initiallyOpen(large, '149.7.0')))).toContain('149.7.0');
});

it('unfolds the path to the cause of a failure', () => {
  const failed = treeWith([
    frame([], 'Reverted'),
    ...children(250),
    frame([250], 'Reverted'),
    frame([250, 0]),
    frame([250, 1], 'Reverted'),
    frame([250, 1, 0], 'out of gas'),
    frame([250, 1, 0, 0]),
  ]);
  expect(paths(rowsOf(failed, initiallyOpen(failed, undefined))).slice(251)).toEqual([
    '250',
    '250.0',
    '250.1',
    '250.1.0',
  ]);
});

it('unfolds all frames up to a maximum of rows', () => {
  const root = treeWith([
    frame([]),
    ...children(3),
    ...children(9, [0]),
    ...children(2, [1]),
    frame([1, 0, 0]),
  ]);
  expect(allOpen(root)).toMatchObject({ rows: 16 });
  const limited = allOpen(root, 12);
  expect(limited.rows).toBe(7);
  expect(paths(rowsOf(root, limited.open))).toEqual(['', '0', '1', '1.0', '1.0.0', '1.1', '2']);
  const wide = treeWith([frame([]), ...children(20_000)]);
  expect(allOpen(wide)).toMatchObject({ rows: 1 });
});

it('countBelow counts the frames below a frame, at any depth', () => {
  const line = Array.from({ length: 1000 }, (_, i) =>
    frame(
      Array.from({ length: i }, () => 0),
      i > 990 ? 'Reverted' : undefined,
    ),
  );
  const root = treeOf(line);
  if (root === undefined) throw new Error('no tree');
  expect(countBelow(root)).toEqual({ frames: 999, failed: 9 });
  expect(treeOf([])).toBeUndefined();
});
