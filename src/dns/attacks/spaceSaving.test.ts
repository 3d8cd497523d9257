import fc from 'fast-check';
import { expect, it } from 'vitest';
import { SpaceSaving } from './spaceSaving.ts';

it('SpaceSaving keeps every value above its share of a stream, and never counts too low', () => {
  const stream = fc.array(
    fc.record({ value: fc.integer({ min: 0, max: 40 }).map(String), weight: fc.integer({ min: 1, max: 9 }) }),
    { maxLength: 400 },
  );
  fc.assert(
    fc.property(stream, fc.integer({ min: 1, max: 12 }), (added, capacity) => {
      const counters = new SpaceSaving(capacity);
      const truth = new Map<string, number>();
      for (const { value, weight } of added) {
        counters.add(value, weight);
        truth.set(value, (truth.get(value) ?? 0) + weight);
      }
      const total = added.reduce((sum, { weight }) => sum + weight, 0);
      const top = counters.top(capacity);
      expect(top.length).toBeLessThanOrEqual(capacity);
      for (const { value, count, error } of top) {
        expect(count).toBeGreaterThanOrEqual(truth.get(value) ?? 0);
        expect(count - error).toBeLessThanOrEqual(truth.get(value) ?? 0);
        expect(error).toBeLessThanOrEqual(total / capacity);
      }
      for (const [value, count] of truth)
        if (count > total / capacity) expect(top.map((one) => one.value)).toContain(value);
    }),
  );
});

it('SpaceSaving keeps the top value in a flood of one-time values', () => {
  const counters = new SpaceSaving(128);
  for (let i = 0; i < 10_000; i++) counters.add(i % 50 === 0 ? 'real' : `made up ${i}`, 1);
  expect(counters.top(1)[0]).toMatchObject({ value: 'real' });
  expect(counters.top(1000)).toHaveLength(128);
});

it('SpaceSaving continues stored counts', () => {
  const before = new SpaceSaving(4);
  for (const value of ['a', 'a', 'b']) before.add(value, 2);
  const after = new SpaceSaving(4, before.top(4));
  after.add('b', 5);
  expect(after.top(2)).toEqual([
    { value: 'b', count: 7, error: 0 },
    { value: 'a', count: 4, error: 0 },
  ]);
});
