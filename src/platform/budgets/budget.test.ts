import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Budget } from './budget.ts';

const A = { address: '192.0.2.1' };
const B = { address: '192.0.2.2' };

/** Charges one unit at a time until a limit is reached, and returns the used amount. */
function fill(budget: Budget, client: { address: string; keyId?: string }): number {
  let used = 0;
  for (; budget.exceededBy(client, 1) === undefined; used++) budget.charge(client, 1);
  return used;
}

describe('a budget', () => {
  it('returns the limit that a client would exceed', () => {
    const budget = new Budget({ perClient: 10, total: 15 });
    expect(budget.exceededBy(A, 10)).toBeUndefined();
    expect(budget.exceededBy(A, 11)).toBe('perClient');
    budget.charge(A, 10);
    expect(budget.exceededBy(A, 1)).toBe('perClient');
    expect(budget.exceededBy(B, 5)).toBeUndefined();
    expect(budget.exceededBy(B, 6)).toBe('total');
  });

  it('makes released amounts available again', () => {
    const budget = new Budget({ perClient: 10, total: 15 });
    budget.charge(A, 8);
    budget.charge(B, 7);
    budget.release(A, 5);
    expect([budget.usedBy(A), budget.usedBy(B), budget.total]).toEqual([3, 7, 10]);
    budget.release(A, 3);
    expect([budget.usedBy(A), budget.total]).toEqual([0, 7]);
  });

  it('leaves as much free as each of the greedy clients uses', () => {
    const budget = new Budget({ perClient: 1_000, total: 1_000, partOfFree: 1 });
    expect(fill(budget, A)).toBe(500);
    expect(fill(budget, B)).toBe(250);
    expect(budget.exceededBy({ address: '192.0.2.3' }, 1)).toBeUndefined();
  });

  it('gives each client its smallest share while the total is not reached', () => {
    const budget = new Budget({ perClient: 100, total: 12, partOfFree: 1 / 2, minShare: 4 });
    expect(fill(budget, A)).toBe(4);
    expect(fill(budget, B)).toBe(4);
    expect(fill(budget, { address: '192.0.2.3' })).toBe(4);
    expect(budget.exceededBy({ address: '192.0.2.4' }, 1)).toBe('total');
  });

  it('gives a /56 two shares and a /48 four, from any number of /64 networks', () => {
    const network = (group: number) => ({ address: `2001:db8:1:${group.toString(16)}::/64` });
    const budget = new Budget({ perClient: 10, total: 1_000 });
    const of56 = [0x100, 0x101, 0x1ff].map((group) => fill(budget, network(group)));
    expect(of56).toEqual([10, 10, 0]);
    const of48 = [0x200, 0x300, 0x400].map((group) => fill(budget, network(group)));
    expect(of48).toEqual([10, 10, 0]);
    expect(fill(budget, { address: '2001:db8:2:0::/64' })).toBe(10);
  });

  it('counts keys and addresses', () => {
    const budget = new Budget({ perClient: 10, total: 1_000 });
    expect(fill(budget, { ...A, keyId: 'k' })).toBe(10);
    expect(fill(budget, { ...B, keyId: 'k' })).toBe(0);
    expect(fill(budget, { ...A, keyId: 'other' })).toBe(0);
    expect(fill(budget, B)).toBe(10);
  });

  it('has a separate limit for an API key, and returns which limit would be exceeded', () => {
    const budget = new Budget({ perClient: 10, perKey: 15, total: 30 });
    expect(fill(budget, { ...A, keyId: 'k' })).toBe(10);
    expect(budget.excessOf({ ...A, keyId: 'k' }, 1)).toEqual({ of: 'address', limit: 10, requested: 11 });
    expect(fill(budget, { ...B, keyId: 'k' })).toBe(5);
    expect(budget.excessOf({ ...B, keyId: 'k' }, 1)).toEqual({ of: 'key', limit: 15, requested: 16 });
    expect(fill(budget, { address: '2001:db8:1:1::/64' })).toBe(10);
    expect(budget.excessOf(B, 6)).toEqual({ of: 'address', limit: 10, requested: 11 });
    expect(budget.excessOf({ address: '192.0.2.3' }, 6)).toEqual({ of: 'all', limit: 30, requested: 31 });
    expect(fill(budget, { address: '192.0.2.3' })).toBe(5);
  });

  it('forgets clients that released everything', () => {
    const client = fc.record({
      address: fc.constantFrom('192.0.2.1', '2001:db8:1:2::/64', '2001:db8:1:3::/64', '2001:db8:2:3::/64'),
      keyId: fc.constantFrom(undefined, 'k', 'l'),
    });
    fc.assert(
      fc.property(fc.array(fc.tuple(client, fc.integer({ min: 1, max: 9 }))), (charges) => {
        const budget = new Budget({ perClient: 10, total: 20 });
        for (const [who, amount] of charges) budget.charge(who, amount);
        for (const [who, amount] of charges) budget.release(who, amount);
        expect(budget.total).toBe(0);
        for (const [who] of charges) expect(budget.weightOf(who)).toBe(0);
      }),
    );
  });
});
