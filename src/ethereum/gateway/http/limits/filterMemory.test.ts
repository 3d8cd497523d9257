import { expect, it } from 'vitest';
import { FilterMemory } from './filterMemory.ts';

const [KIB, MIB] = [1024, 1024 * 1024];

/** Takes memory in steps until a limit is reached, and returns the bytes. */
function fill(memory: FilterMemory, client: { address: string; keyId?: string }): number {
  for (let bytes = 0; ; bytes += KIB)
    try {
      memory.take(client, KIB);
    } catch {
      return bytes;
    }
}

it('limits one address to 1 MiB, and one API key to 4 MiB', () => {
  let refused = 0;
  const memory = new FilterMemory({ refused: () => refused++ });
  const release = memory.take({ address: 'a' }, MIB);
  expect(() => memory.take({ address: 'a' }, 1)).toThrow(
    expect.objectContaining({ code: -32005, data: { limit: MIB, requested: MIB + 1 } }),
  );
  expect(() => memory.take({ address: 'a' }, 1)).toThrow(
    'bytes of filters and subscriptions of one address: at most 1048576, requested 1048577; end other filters',
  );
  expect(refused).toBe(2);
  release();
  release();
  expect(memory.total).toBe(0);
  for (const address of ['a', 'b', 'c']) expect(fill(memory, { address, keyId: 'k' })).toBe(MIB);
  const ofLast = fill(memory, { address: 'd', keyId: 'k' });
  expect(ofLast).toBeGreaterThan(MIB / 2);
  expect(() => memory.take({ address: 'e', keyId: 'k' }, MIB)).toThrow('of one API key');
  expect(fill(memory, { address: 'e' })).toBe(MIB);
});

it('leaves memory to a new client if 100 addresses use as much as possible', () => {
  const memory = new FilterMemory();
  for (let i = 0; i < 100; i++) fill(memory, { address: `192.0.2.${i}` });
  expect(fill(memory, { address: '198.51.100.1' })).toBeGreaterThanOrEqual(16 * KIB);
});

it('divides the limit of all clients by the number of processes', () => {
  const memory = new FilterMemory({ processes: 32 });
  const taken = Array.from({ length: 300 }, (_, i) => fill(memory, { address: `192.0.${i}.1` }));
  expect(memory.total).toBe(taken.reduce((sum, bytes) => sum + bytes));
  expect(memory.total).toBe(2 * MIB);
  expect(() => memory.take({ address: '198.51.100.1' }, 1)).toThrow(
    expect.objectContaining({ data: { limit: 2 * MIB, requested: 2 * MIB + 1 } }),
  );
});
