import { expect, it } from 'vitest';
import { FilterMemory } from './filterMemory.ts';

const MIB = 1024 * 1024;

it('limits the bytes of one client and of all clients', () => {
  let refused = 0;
  const memory = new FilterMemory({ refused: () => refused++ });
  const release = memory.take('a', MIB);
  expect(() => memory.take('a', 1)).toThrow(expect.objectContaining({ code: -32005, data: limitOf(MIB) }));
  for (let i = 1; i < 64; i++) memory.take(`other ${i}`, MIB);
  expect(() => memory.take('b', 1)).toThrow(expect.objectContaining({ data: limitOf(64 * MIB) }));
  expect(refused).toBe(2);
  release();
  release();
  expect(memory.bytes).toBe(63 * MIB);
  memory.take('b', MIB);
});

it('divides the limit of all clients by the number of processes', () => {
  const memory = new FilterMemory({ processes: 32 });
  memory.take('a', MIB);
  memory.take('b', MIB);
  expect(() => memory.take('c', 1)).toThrow(expect.objectContaining({ data: limitOf(2 * MIB) }));
  const small = new FilterMemory({ processes: 128 });
  expect(() => small.take('a', MIB)).toThrow(expect.objectContaining({ data: limitOf(MIB / 2, MIB) }));
});

const limitOf = (limit: number, requested = limit + 1) => ({ limit, requested });
