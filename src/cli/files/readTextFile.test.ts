import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { readTextFile } from './readTextFile.ts';

const folder = mkdtempSync(join(tmpdir(), 'floodgate-text-'));
afterAll(() => rmSync(folder, { recursive: true }));
const file = join(folder, 'rules.yaml');

it('a text file in another encoding than UTF-8 is rejected, so that no character is replaced', () => {
  writeFileSync(file, 'name: Zürich', 'latin1');
  expect(() => readTextFile(file)).toThrow(
    `${file} cannot be read: it is not UTF-8; save it in this encoding`,
  );
  expect(() => readTextFile(join(folder, 'absent'), '--zones')).toThrow(
    /^--zones: .*absent cannot be read: ENOENT/,
  );
});

it('a text file in UTF-8 is read without its byte order mark', () => {
  writeFileSync(file, '\ufeffname: Zürich');
  expect(readTextFile(file)).toBe('name: Zürich');
});

it('a file that is too large is rejected', () => {
  writeFileSync(file, Buffer.alloc(16 * 1024 * 1024 + 1, 'a'));
  expect(() => readTextFile(file)).toThrow(`${file} cannot be read: it has more than 16777216 bytes`);
});
