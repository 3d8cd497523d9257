import { availableParallelism } from 'node:os';
import { expect, it } from 'vitest';
import { cannotSharePort, threadsFor } from './sharePort.ts';

it.each([
  ['20.19.0', false],
  ['22.11.0', false],
  ['22.12.0', true],
  ['23.0.0', false],
  ['23.1.0', true],
  ['24.0.0', true],
  ['26.1.0', true],
])('Node %s can share a port: %s', (version, can) => {
  expect(cannotSharePort(version, 'linux') === undefined).toBe(can);
  expect(cannotSharePort(version, 'darwin')).toContain('darwin');
});

it('the number of threads is as requested, one per core (at most four) for 0, and one if ports cannot be shared', () => {
  expect(threadsFor(7, undefined)).toBe(7);
  expect(threadsFor(0, undefined)).toBe(Math.min(4, availableParallelism()));
  expect([threadsFor(7, 'why not'), threadsFor(0, 'why not')]).toEqual([1, 1]);
});
