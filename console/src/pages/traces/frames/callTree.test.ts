import { expect, it } from 'vitest';
import type { Trace } from '../types.ts';
import { countBelow, fold, initialFolding, rowsOf, showMore, treeOf } from './callTree.ts';

const frame = (traceAddress: readonly number[], error?: string) =>
  ({
    ...{ type: 'call', traceAddress, subtraces: 0, transactionHash: '0x1', transactionPosition: 0 },
    ...{
      blockHash: '0x2',
      blockNumber: 1,
      ...(error && { error }),
      result: { gasUsed: '0x1', output: '0x' },
    },
    action: { callType: 'call', from: '0x', to: '0x', gas: '0x1', input: '0x', value: '0x0' },
  }) as Trace;
const paths = (rows: ReturnType<typeof rowsOf>) =>
  rows.map((row) => (row.kind === 'frame' ? row.frame.path : `+${row.left}`));

const deep = [[], [0], [0, 0], [0, 0, 0], [0, 0, 0, 0], [1]].map((path) => frame(path));

it('the tree initially shows three levels and the path to the wanted frame', () => {
  const root = treeOf(deep);
  if (root === undefined) throw new Error('no tree');
  expect(paths(rowsOf(root, initialFolding(root, undefined)))).toEqual(['', '0', '0.0', '1']);
  expect(paths(rowsOf(root, initialFolding(root, '0.0.0.0')))).toEqual([
    '',
    '0',
    '0.0',
    '0.0.0',
    '0.0.0.0',
    '1',
  ]);
  expect(paths(rowsOf(root, fold(initialFolding(root, undefined), '', false)))).toEqual(['']);
});

it('the tree shows twenty children of a frame, and twenty more each time', () => {
  const root = treeOf([frame([]), ...Array.from({ length: 45 }, (_, i) => frame([i]))]);
  if (root === undefined) throw new Error('no tree');
  const first = initialFolding(root, undefined);
  expect(paths(rowsOf(root, first)).slice(-1)).toEqual(['+25']);
  expect(rowsOf(root, first)).toHaveLength(22);
  expect(paths(rowsOf(root, showMore(first, root))).slice(-1)).toEqual(['+5']);
  expect(rowsOf(root, showMore(showMore(first, root), root))).toHaveLength(46);
  expect(paths(rowsOf(root, initialFolding(root, '39')))).toContain('39');
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
