import { expect, it } from 'vitest';
import { Pace } from './pace.ts';

it('asks for more slowly, for half as much at a failure, and always for one', () => {
  const pace = new Pace(4, 6);
  for (let i = 0; i < 8; i++) pace.answered();
  expect(pace.limit).toBe(5);
  for (let i = 0; i < 1000; i++) pace.answered();
  expect(pace.limit).toBe(6);
  pace.failed();
  expect(pace.limit).toBe(3);
  for (let i = 0; i < 5; i++) pace.failed();
  expect(pace.limit).toBe(1);
});
