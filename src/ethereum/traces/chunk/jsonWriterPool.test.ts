import { describe, expect, it } from 'vitest';
import type { JsonWriter } from './jsonWriter.ts';
import { JsonWriterPool } from './jsonWriterPool.ts';

const MIB = 1024 * 1024;

/** Takes so many writers, has each grow, and gives all back. */
function lend(pool: JsonWriterPool, count: number, bytes: number): JsonWriter[] {
  const writers = Array.from({ length: count }, () => pool.take());
  for (const writer of writers) writer.reserve(bytes);
  for (const writer of writers) pool.giveBack(writer);
  return writers;
}

describe('JsonWriterPool', () => {
  it('makes no writer anew for as many connections as ask in one turn', () => {
    const pool = new JsonWriterPool();
    const writers = new Set(lend(pool, 100, 1));
    expect(lend(pool, 100, 1).filter((writer) => !writers.has(writer))).toEqual([]);
  });

  it('keeps no more memory than it may, however large answers were and however many', () => {
    const pool = new JsonWriterPool();
    const writers = new Set(lend(pool, 100, 4 * MIB));
    const kept = Array.from({ length: 100 }, () => pool.take()).filter((writer) => writers.has(writer));
    expect(kept.length).toBeGreaterThan(0);
    expect(kept.reduce((sum, { heldBytes }) => sum + heldBytes, 0)).toBeLessThanOrEqual(32 * MIB);
  });
});
