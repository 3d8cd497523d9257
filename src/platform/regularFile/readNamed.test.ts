import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readNamed } from './readNamed.ts';

const folder = mkdtempSync(join(tmpdir(), 'floodgate-named-'));
const at = (name: string): string => join(folder, name);
const socket = createServer();
beforeAll(async () => {
  writeFileSync(at('file'), 'text');
  symlinkSync(at('file'), at('link'));
  execFileSync('mkfifo', [at('pipe')]);
  symlinkSync(at('pipe'), at('link to a pipe'));
  await new Promise<void>((resolve) => socket.listen(at('socket'), resolve));
  mkdirSync(at('folder'));
});
afterAll(() => {
  socket.close();
  rmSync(folder, { recursive: true });
});

it('a regular file, or a link to one, is read up to the maximum size', () => {
  expect(readNamed(at('file'), 4).toString()).toBe('text');
  expect(readNamed(at('link'), 4).toString()).toBe('text');
  expect(() => readNamed(at('file'), 3)).toThrow('it has more than 3 bytes');
  expect(() => readNamed(at('none'), 3)).toThrow('ENOENT');
  expect(readNamed('/dev/null', 3)).toHaveLength(0);
});

it.each([
  ['a named pipe', at('pipe')],
  ['a named pipe', at('link to a pipe')],
  ['a socket', at('socket')],
  ['a folder', at('folder')],
  ['a device', '/dev/zero'],
])('%s is rejected without being opened: %s', (kind, path) => {
  expect(() => readNamed(path, 3)).toThrow(`${path} is ${kind}; only regular files are allowed`);
});
