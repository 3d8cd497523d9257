import { describe, expect, it } from 'vitest';
import { Budget } from './budget.ts';

describe('a budget', () => {
  it('returns the limit that a client would exceed', () => {
    const budget = new Budget({ perClient: 10, total: 15 });
    expect(budget.exceededBy('a', 10)).toBeUndefined();
    expect(budget.exceededBy('a', 11)).toBe('perClient');
    budget.charge('a', 10);
    expect(budget.exceededBy('a', 1)).toBe('perClient');
    expect(budget.exceededBy('b', 5)).toBeUndefined();
    expect(budget.exceededBy('b', 6)).toBe('total');
  });

  it('makes released amounts available again', () => {
    const budget = new Budget({ perClient: 10, total: 15 });
    budget.charge('a', 8);
    budget.charge('b', 7);
    budget.release('a', 5);
    expect([budget.usedBy('a'), budget.usedBy('b'), budget.total]).toEqual([3, 7, 10]);
    budget.release('a', 3);
    expect([budget.usedBy('a'), budget.total]).toEqual([0, 7]);
  });
});
