import { expect, it } from 'vitest';
import { callEnds } from './atEnd.ts';

it('all functions for the end of a test are called in reverse order, even if one of them fails', async () => {
  const called: string[] = [];
  const ends = [
    () => called.push('server'),
    () => Promise.reject(new Error('the guard does not stop')),
    () => called.push('timer'),
  ];
  await expect(callEnds(ends)).rejects.toThrow('the guard does not stop');
  expect(called).toEqual(['timer', 'server']);
});
