import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { root, run } from '../server/support/run.ts';
import { installedNode } from '../support/newerNode.ts';

const PROGRAM = `${root}dist/bundle/floodgate.js`;
const { version } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));
const WELL = { code: 0, stdout: `${version}\n`, stderr: '' };

const LINES = [22, 24].map((major) => ({ name: `Node ${major}`, node: installedNode(major) }));

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'floodgate-compiled-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Returns the files of the cache with their modification times and sizes. */
function kept(cache: string): ReadonlyMap<string, { readonly writtenMs: number; readonly bytes: number }> {
  const found = readdirSync(join(cache, 'floodgate/compiled'), { recursive: true, withFileTypes: true });
  const files = found.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  return new Map(
    files.sort().map((file) => {
      const { mtimeMs, size } = statSync(file);
      return [file, { writtenMs: mtimeMs, bytes: size }];
    }),
  );
}

describe.for(LINES)('the cache of compiled code, on $name', ({ name, node }) => {
  const start = (cache: string, env: Record<string, string> = {}) =>
    run(node ?? '', [PROGRAM, '--version'], { env: { XDG_CACHE_HOME: cache, ...env } });

  it.skipIf(node === undefined)('is readable by its user only, and is reused by the next start', async () => {
    const cache = join(folder, name, 'kept');
    expect(await start(cache)).toEqual(WELL);
    const first = kept(cache);
    expect(first.size).toBeGreaterThan(0);
    expect(statSync(join(cache, 'floodgate/compiled')).mode & 0o777).toBe(0o700);
    expect(await start(cache)).toEqual(WELL);
    expect(kept(cache)).toEqual(first);
  });

  it.skipIf(node === undefined)(
    'is not written if other users can write to its folder, or if it is disabled',
    async () => {
      const open = join(folder, name, 'open');
      mkdirSync(join(open, 'floodgate/compiled'), { recursive: true });
      chmodSync(join(open, 'floodgate/compiled'), 0o777);
      expect(await start(open)).toEqual(WELL);
      expect(kept(open).size).toBe(0);
      const off = join(folder, name, 'off');
      expect(await start(off, { NODE_DISABLE_COMPILE_CACHE: '1' })).toEqual(WELL);
      expect(kept(off).size).toBe(0);
    },
  );

  it.skipIf(node === undefined)(
    'is optional: the program starts without a writable cache folder',
    async () => {
      const file = join(folder, name, 'file');
      mkdirSync(join(folder, name), { recursive: true });
      writeFileSync(file, '');
      expect(await start(file)).toEqual(WELL);
    },
  );
});
