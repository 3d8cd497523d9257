import { describe, expect, it } from 'vitest';
import type { JsonWriter } from './jsonWriter.ts';
import { JsonWriterPool } from './jsonWriterPool.ts';

const MIB = 1024 * 1024;

/** Borrows `count` writers, grows each one and returns all. */
function lend(pool: JsonWriterPool, count: number, bytes: number): JsonWriter[] {
  const writers = Array.from({ length: count }, () => pool.acquire());
  for (const writer of writers) writer.reserve(bytes);
  for (const writer of writers) pool.release(writer);
  return writers;
}

describe('JsonWriterPool', () => {
  it('reuses all writers of a previous event loop iteration with 100 connections', () => {
    const pool = new JsonWriterPool();
    const writers = new Set(lend(pool, 100, 1));
    expect(lend(pool, 100, 1).filter((writer) => !writers.has(writer))).toEqual([]);
  });

  it('keeps at most 32 MiB of buffers, for any number and size of responses', () => {
    const pool = new JsonWriterPool();
    const writers = new Set(lend(pool, 100, 4 * MIB));
    const kept = Array.from({ length: 100 }, () => pool.acquire()).filter((writer) => writers.has(writer));
    expect(kept.length).toBeGreaterThan(0);
    expect(kept.reduce((sum, { capacityBytes }) => sum + capacityBytes, 0)).toBeLessThanOrEqual(32 * MIB);
  });
});
