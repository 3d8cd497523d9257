import { expect, it } from 'vitest';
import { HiddenUndo } from './hiddenUndo.ts';

const BLOCKS = { blocks: [] };

it.each([
  ['a change that removes blocks', { ...BLOCKS, undoFrom: 7 }, false],
  ['a change that removes blocks and fails', { ...BLOCKS, undoFrom: 7 }, true],
])('%s is hidden from workers until it is complete', async (_, change, fails) => {
  const steps: string[] = [];
  const unseen = new HiddenUndo({
    async settled() {
      steps.push(unseen.isUndoing ? 'hidden' : 'visible');
    },
  });
  const applied = unseen.applyWith(change, async () => {
    steps.push('applied');
    if (fails) throw new Error('the disk is full');
  });
  await (fails ? expect(applied).rejects.toThrow('the disk is full') : applied);
  expect(steps).toEqual(['hidden', 'applied', 'visible']);
});

it('a change that only adds blocks waits for no worker', async () => {
  const unseen = new HiddenUndo({ settled: () => Promise.reject(new Error('called')) });
  const steps: string[] = [];
  await unseen.applyWith(BLOCKS, async () => {
    steps.push(unseen.isUndoing ? 'hidden' : 'visible');
  });
  expect(steps).toEqual(['visible']);
});
