import { expect, test } from 'vitest';
import { sharedRuns } from './sharedRuns.ts';

/** Work whose runs the test ends, one after the other. */
function heldWork() {
  const ends: ((failure?: Error) => void)[] = [];
  const work = (): Promise<void> =>
    new Promise((resolve, reject) => {
      ends.push((failure) => (failure === undefined ? resolve() : reject(failure)));
    });
  return { ends, run: sharedRuns(work) };
}

test('calls during a run share one further run, which starts when that run has ended', async () => {
  const { ends, run } = heldWork();
  const first = run();
  await Promise.resolve();
  const others = [run(), run()];
  await Promise.resolve();
  expect(ends).toHaveLength(1);
  ends[0]?.();
  await first;
  await Promise.resolve();
  expect(ends).toHaveLength(2);
  ends[1]?.();
  await Promise.all(others);
  expect(ends).toHaveLength(2);
});

test('a failed run rejects for its callers only, and the next run starts', async () => {
  const { ends, run } = heldWork();
  const first = run();
  await Promise.resolve();
  const second = run();
  ends[0]?.(new Error('failed'));
  await expect(first).rejects.toThrow('failed');
  await Promise.resolve();
  ends[1]?.();
  await second;
});
