import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { open } from 'lmdb';
import { expect, it, onTestFinished } from 'vitest';
import { StoreDamagedError, StoreFile } from './index.ts';

const PAGE_BYTES = 8192;
/** Offset of a head in the first page, and of the fields of a head. */
const HEAD_AT = 24;
const [PAGE_SIZE_AT, ROOT_AT] = [24, 112];

async function newStore(): Promise<{ folder: string; file: string; bytes: Buffer }> {
  const folder = mkdtempSync(join(tmpdir(), 'floodgate-heads-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const root = open<number, number>({ path: folder, pageSize: PAGE_BYTES });
  await root.batch(() => {
    for (let i = 0; i < 1_000; i++) root.put(i, i);
  });
  await root.close();
  const file = join(folder, 'data.mdb');
  return { folder, file, bytes: readFileSync(file) };
}

it.each<[string, (bytes: Buffer) => unknown, string]>([
  ['is another file', (bytes) => bytes.fill(0x20), 'it is not an LMDB file of version 2'],
  ['is cut off', (bytes) => bytes.subarray(0, 2 * PAGE_BYTES), 'is after its end'],
  ['is shorter than a page', (bytes) => bytes.subarray(0, 100), 'it ends before its second page'],
  ['has the page size 0', (bytes) => bytes.writeUInt32LE(0, HEAD_AT + PAGE_SIZE_AT), 'its page size is 0'],
  [
    'has another second head',
    (bytes) => bytes.writeUInt32LE(1, PAGE_BYTES + HEAD_AT),
    'it is not an LMDB file of version 2',
  ],
  [
    'has a root page after its end',
    (bytes) => bytes.writeBigUInt64LE(1_000_000n, HEAD_AT + ROOT_AT),
    'page 1000000 is after its end',
  ],
])('a store whose file %s is rejected, because LMDB would crash', async (_, change, problem) => {
  const { folder, file, bytes } = await newStore();
  const changed = change(bytes);
  writeFileSync(file, Buffer.isBuffer(changed) ? changed : bytes);
  const store = new StoreFile(folder, { isVerified: true });
  expect(() => store.withOpen(() => undefined)).toThrow(StoreDamagedError);
  expect(() => store.withOpen(() => undefined)).toThrow(problem);
});

it('a new and a written store are opened', async () => {
  const { folder, file } = await newStore();
  const opened = new StoreFile(folder, { isVerified: true });
  const store = () => open<number, number>({ path: folder, pageSize: PAGE_BYTES });
  const written = opened.withOpen(store);
  expect(written.get(7)).toBe(7);
  await opened.close(written);
  writeFileSync(file, '');
  const empty = new StoreFile(folder, { isVerified: true });
  await empty.close(empty.withOpen(store));
});
