import { expect, it } from 'vitest';
import { OneTimeNames } from './oneTimeNames.ts';

it('a zone has one-time names above half of its answers, until they are fewer than 30 %', () => {
  const names = new OneTimeNames();
  const is = (): boolean => {
    names.update();
    return names.is;
  };
  for (let i = 0; i < 999; i++) names.note(true);
  expect(is()).toBe(false); // too few answers
  for (let i = 0; i < 999; i++) names.note(false);
  expect(is()).toBe(false);
  names.note(true);
  expect(is()).toBe(true);
  while (names.first / names.answers > 0.3001) names.note(false);
  expect(is()).toBe(true);
  for (let i = 0; i < 10; i++) names.note(false);
  expect(is()).toBe(false);
});
