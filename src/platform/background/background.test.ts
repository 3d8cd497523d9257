import { afterEach, expect, it, vi } from 'vitest';
import { type Log, QUIET } from '../logging/index.ts';
import { awaitedLater, failureReporter, inBackground, logBackgroundFailures } from './index.ts';

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

/** Collects logged errors. */
function listening(): object[] {
  const lines: object[] = [];
  const log: Log = { ...QUIET, error: (fields, message) => void lines.push({ ...fields, message }) };
  ends.push(logBackgroundFailures(log));
  return lines;
}

const error = new Error('no file descriptor left');

it('background work that rejects or throws is logged once', async () => {
  const lines = listening();
  inBackground('first', () => Promise.reject(error));
  inBackground('second', () => {
    throw error;
  });
  inBackground('third', () => Promise.resolve());
  await vi.waitFor(() => expect(lines).toHaveLength(2));
  expect(lines).toEqual(
    expect.arrayContaining([
      { work: 'first', err: error, message: 'background work failed' },
      { work: 'second', err: error, message: 'background work failed' },
    ]),
  );
});

it('a stored promise that reports its failure resolves', async () => {
  const lines = listening();
  await Promise.reject(error).catch(failureReporter('stored work'));
  expect(lines).toEqual([{ work: 'stored work', err: error, message: 'background work failed' }]);
});

it('a promise passed to awaitedLater still rejects for its caller', async () => {
  const stored = awaitedLater(Promise.reject(error));
  // A rejection without a handler is reported after the microtasks.
  await new Promise((resolve) => setImmediate(resolve));
  await expect(stored).rejects.toBe(error);
});

it('a failure without a listener is emitted as a process warning', async () => {
  const warned = new Promise((resolve) => process.once('warning', resolve));
  failureReporter('work')(error);
  expect(await warned).toBe(error);
});
