import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, it } from 'vitest';
import { SnapshotFile } from './snapshotFile.ts';

const folder = mkdtempSync(join(tmpdir(), 'floodgate-snapshot-'));
const path = join(folder, 'keys.snapshot');
let logged: string[];
const note = (fields: object): void => void logged.push(JSON.stringify(fields));
const log = { debug: note, info: note, warn: note, error: note };
const fileOf = (database = 'db:5432/rules'): SnapshotFile => new SnapshotFile({ path, database, log });
const TIMES = { comparedMs: 1_795_000_000_000, aliveMs: 1_795_000_001_000 };

beforeEach(() => {
  logged = [];
  rmSync(path, { recursive: true, force: true });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('a snapshot returns the content that was written last, with the times of the last touch', async () => {
  expect(fileOf().read()).toBeUndefined();
  const file = fileOf();
  await file.touch(TIMES);
  await file.write({ keys: ['old'] }, TIMES);
  await file.write({ keys: ['é'] }, TIMES);
  expect(fileOf().read()).toEqual({ content: { keys: ['é'] }, ...TIMES });
  const later = { comparedMs: TIMES.comparedMs, aliveMs: TIMES.aliveMs + 10_000 };
  const read = fileOf();
  read.read();
  await read.touch(later);
  expect(fileOf().read()).toEqual({ content: { keys: ['é'] }, ...later });
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(logged).toEqual([]);
});

it('every truncated or changed snapshot is ignored with a message that names the file', async () => {
  await fileOf().write({ keys: ['a'] }, TIMES);
  const whole = readFileSync(path);
  for (let length = 0; length < whole.length; length += 7) {
    writeFileSync(path, whole.subarray(0, length));
    expect(fileOf().read(), `${length} bytes`).toBeUndefined();
  }
  const changed = Buffer.from(whole);
  changed[whole.length - 3] = 0x62;
  writeFileSync(path, changed);
  expect(fileOf().read()).toBeUndefined();
  expect(logged.every((line) => line.includes(path) && line.includes('damaged'))).toBe(true);
});

it('a snapshot of another database, and a link instead of a file, are ignored', async () => {
  await fileOf().write({ keys: ['a'] }, TIMES);
  expect(fileOf('other:5432/rules').read()).toBeUndefined();
  expect(logged.at(-1)).toContain('the file is of another database');
  rmSync(path);
  symlinkSync('/dev/zero', path);
  expect(fileOf().read()).toBeUndefined();
  expect(logged.at(-1)).toContain('symbolic link');
});

it('if a snapshot cannot be written, the old one is removed, because it may contain a revoked key', async () => {
  const file = fileOf();
  await file.write({ keys: ['revoked meanwhile'] }, TIMES);
  mkdirSync(`${path}.partial`); // writing fails
  await file.write({ keys: [] }, TIMES);
  expect(fileOf().read()).toBeUndefined();
  expect(logged).toHaveLength(1);
  rmSync(`${path}.partial`, { recursive: true });
  await file.write({ keys: ['b'] }, TIMES);
  expect(fileOf().read()?.content).toEqual({ keys: ['b'] });
});
