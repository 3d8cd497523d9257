import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Random } from '../../../../../test/support/random.ts';
import { until } from '../../../../../test/support/until.ts';
import { TraceEnvironment } from './environment.ts';

test('a reader opens a new dictionary as soon as the writer has committed its number', async () => {
  const path = mkdtempSync(join(tmpdir(), 'floodgate-environment-'));
  const writer = TraceEnvironment.open(path);
  const early = TraceEnvironment.open(path, { readOnly: true });
  // Holds the writer between commit and flush.
  let flush: () => void = () => undefined;
  const flushed = new Promise<void>((resolve) => {
    flush = resolve;
  });
  Object.defineProperty(writer.root, 'flushed', { value: flushed, configurable: true });
  const adding = writer.addDictionary(1, Buffer.from(new Random(1).hex(2_000).slice(2), 'hex'), 0);
  await until('the dictionary is committed', () => {
    const reader = TraceEnvironment.open(path, { readOnly: true });
    const isThere = reader.meta.getBinary(Buffer.from('dictionary')) !== undefined;
    if (isThere) expect(reader.chunks(1)).toBeDefined();
    void reader.root.close();
    return isThere;
  });
  early.openDictionaries();
  expect(early.chunks(1)).toBeDefined();
  flush();
  await adding;
  expect(writer.chunks(1)).toBeDefined();
  await early.root.close();
  await writer.root.close();
  rmSync(path, { recursive: true, force: true });
});
