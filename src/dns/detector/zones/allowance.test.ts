import { expect, it } from 'vitest';
import { Allowance } from './allowance.ts';

const STATE = { isLimited: true, isRelaxed: true, mostFactor: 10 };

it('raises the limits at the same pace after the clock was set back', () => {
  const allowance = new Allowance();
  const factorAfterMinute = (fromMs: number): number => {
    for (let second = 0; second < 60; second++) allowance.update(STATE, fromMs + second * 1000);
    return allowance.factor;
  };
  const first = factorAfterMinute(86_400_000);
  expect(first).toBeCloseTo(1.1 ** 6);
  expect(factorAfterMinute(0)).toBeGreaterThan(first * 1.5);
});
