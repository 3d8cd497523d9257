import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { open, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Random } from '../../../test/support/random.ts';
import { ImportError } from './format.ts';
import { ParquetFile } from './parquetFile.ts';

const BLOCKS = readFileSync(new URL('../../../test/fixtures/cryo/blocks.parquet', import.meta.url));
/** A Parquet file ends with the length of its metadata and four letters. */
const TRAILER_BYTES = 8;
const FILES = 300;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'floodgate-parquet-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function rowsOf(path: string): Promise<number> {
  const handle = await open(path);
  try {
    const file = await ParquetFile.open({ path, handle, size: (await handle.stat()).size });
    let rows = 0;
    for (const part of await file.parts(1e6, async ({ row }) => Number(row['block_number']), 'block_number'))
      for await (const _ of file.rows(part)) rows++;
    return rows;
  } finally {
    await handle.close();
  }
}

// Vitest also fails if the rejection of a promise is not handled.
it('a file with damaged metadata or pages can be read, or causes an error that names the file', async () => {
  const random = new Random(25);
  const path = join(folder, 'blocks.parquet');
  const metadataBytes = BLOCKS.readUInt32LE(BLOCKS.length - TRAILER_BYTES);
  const errors: unknown[] = [];
  for (let i = 0; i < FILES; i++) {
    const bytes = Buffer.from(BLOCKS);
    for (let changes = random.between(1, 4); changes > 0; changes--) {
      const start = random.chance(0.75) ? BLOCKS.length - TRAILER_BYTES - metadataBytes : 0;
      bytes[random.between(start, BLOCKS.length - TRAILER_BYTES - 1)] = random.below(256);
    }
    await writeFile(path, bytes);
    await rowsOf(path).catch((error: unknown) => errors.push(error));
  }
  expect(errors.length).toBeGreaterThan(FILES / 3);
  for (const error of errors) {
    expect(error).toBeInstanceOf(ImportError);
    expect(String(error)).toContain(path);
  }
});
