import fc from 'fast-check';
import { expect, it } from 'vitest';
import { NameTable } from './nameTable.ts';

const CAPACITY = 12;
/** A few adjacent hashes at both ends of the table, so that probe sequences overlap and wrap around. */
const hash = fc.constantFrom(0, 1, 2, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff);
const name = fc.tuple(hash, fc.integer({ min: 1, max: 3 }));
const step = fc.record({ add: fc.boolean(), name, note: fc.nat() });

it('NameTable agrees with a Map under any insertions and deletions', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
      const table = new NameTable(CAPACITY);
      const model = new Map<string, number>();
      for (const { add, name, note } of steps) {
        const slot = table.find(...name);
        expect(slot >= 0).toBe(model.has(name.join()));
        if (!add && slot >= 0) {
          table.delete(slot);
          model.delete(name.join());
        } else if (add && slot < 0) {
          const placed = table.insert(...name);
          expect(placed >= 0).toBe(model.size < CAPACITY);
          if (placed < 0) continue;
          table.setFirstNote(placed, note);
          table.setMark(placed, note & 0xff);
          model.set(name.join(), note);
        }
        expect(table.size).toBe(model.size);
        for (const [key, value] of model) {
          const [high = 0, low = 0] = key.split(',').map(Number);
          expect(table.firstNote(table.find(high, low))).toBe(value);
          expect(table.mark(table.find(high, low))).toBe(value & 0xff);
        }
      }
    }),
  );
});

it('NameTable finds exactly a million names at 21.25 bytes per name', () => {
  const names = 1_000_000;
  const table = new NameTable(names);
  const highOf = (n: number) => Math.imul(n, 0x9e3779b1) >>> 0;
  for (let n = 1; n <= names; n++) table.insert(highOf(n), n);
  expect(table.insert(5, 5)).toBe(-1);
  let wrong = 0;
  for (let n = 1; n <= names; n++) {
    if (table.find(highOf(n), n) < 0) wrong++;
    if (table.find(highOf(n), n + names) >= 0) wrong++;
  }
  expect(wrong).toBe(0);
  expect(table.bytes / names).toBeLessThanOrEqual(21.3);
});
