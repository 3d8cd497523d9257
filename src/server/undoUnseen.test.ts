import { expect, it } from 'vitest';
import { UndoUnseen } from './undoUnseen.ts';

const BLOCKS = { blocks: [] };

it.each([
  ['what is undone', { ...BLOCKS, undoFrom: 7 }, false],
  ['a change that fails', { ...BLOCKS, undoFrom: 7 }, true],
])('%s is seen by nobody, until it is over', async (_, change, fails) => {
  const told: string[] = [];
  const unseen = new UndoUnseen({
    applyWith: () => Promise.reject(new Error('calls are not held for it')),
    async settled() {
      told.push(unseen.isUndoing ? 'hidden' : 'shown');
    },
  });
  const applied = unseen.applyWith(change, async () => {
    told.push('applied');
    if (fails) throw new Error('the disk is full');
  });
  await (fails ? expect(applied).rejects.toThrow('the disk is full') : applied);
  expect(told).toEqual(['hidden', 'applied', 'shown']);
});

it('blocks that only come are shown once they are there', async () => {
  const told: string[] = [];
  const unseen = new UndoUnseen({
    async applyWith(_, apply) {
      await apply();
      told.push(unseen.isUndoing ? 'hidden' : 'shown');
    },
    settled: () => Promise.reject(new Error('nothing is hidden for it')),
  });
  await unseen.applyWith(BLOCKS, async () => void told.push('applied'));
  expect(told).toEqual(['applied', 'shown']);
});
