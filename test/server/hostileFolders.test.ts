import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openRulesStorage } from '../../src/rules/store/lmdb/index.ts';
import { backupData } from '../../src/server/index.ts';
import { floodgate } from '../rules/support/command.ts';

/** Kind of a hostile entry instead of a file, and its name in the message. */
const KINDS: readonly {
  readonly name: string;
  readonly make: (path: string, original: string) => void;
}[] = [
  { name: 'a symbolic link', make: (path, original) => symlinkSync(original, path) },
  {
    name: 'a named pipe',
    make: (path) => {
      expect(spawnSync('mkfifo', [path]).status).toBe(0);
    },
  },
  { name: 'a folder', make: (path) => void mkdirSync(path) },
];

describe('a folder of unknown origin', () => {
  let made: string;
  let good: string;
  let folder: string;

  beforeAll(async () => {
    made = mkdtempSync(join(tmpdir(), 'floodgate-hostile-'));
    const dataDir = join(made, 'data');
    mkdirSync(dataDir);
    await openRulesStorage(dataDir).close();
    good = join(made, 'good');
    await backupData(dataDir, good);
  });
  afterAll(() => rmSync(made, { recursive: true, force: true }));
  beforeEach(() => {
    folder = join(made, 'folder');
    cpSync(good, folder, { recursive: true });
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  /** Replaces a file of the folder, or adds it. A link leads to a file outside of the folder. */
  function replace(name: string, make: (typeof KINDS)[number]['make']): string {
    const path = join(folder, name);
    const outside = join(made, 'outside');
    rmSync(outside, { recursive: true, force: true });
    if (existsSync(path)) renameSync(path, outside);
    else writeFileSync(outside, 'outside');
    make(path, outside);
    return path;
  }

  const restore = async (): Promise<{ target: string } & Awaited<ReturnType<typeof floodgate>>> => {
    const target = mkdtempSync(join(made, 'target-'));
    return { target, ...(await floodgate(['restore', folder, '--data-dir', target])) };
  };

  it.each(KINDS)('is not restored if the file of a store is $name', async ({ name, make }) => {
    const path = replace('rules/data.mdb', make);
    const { status, stderr, target } = await restore();
    expect(stderr).toBe(`floodgate: ${path} is ${name}; only regular files are allowed\n`);
    expect(status).toBe(1);
    expect(existsSync(join(target, 'rules'))).toBe(false);
  });

  it.each(KINDS)('is not restored if its manifest is $name', async ({ name, make }) => {
    const path = replace('backup.json', make);
    expect((await restore()).stderr).toBe(`floodgate: ${path} is ${name}; only regular files are allowed\n`);
  });

  it('is neither restored nor verified if the folder of a store is a symbolic link', async () => {
    const path = replace('rules', (at, original) => symlinkSync(original, at));
    const message = `floodgate: ${path} is a symbolic link; only folders are allowed\n`;
    expect((await restore()).stderr).toBe(message);
    expect((await floodgate(['verify', '--data-dir', folder])).stderr).toBe(message);
  });

  it.each(
    KINDS.flatMap(({ name, make }) =>
      ['data.mdb', 'lock.mdb', 'store.json', 'opening-lock/data.mdb'].map((file) => ({ name, make, file })),
    ),
  )('does not pass verify if $file of a store is $name', async ({ name, make, file }) => {
    mkdirSync(join(folder, 'rules', 'opening-lock'), { recursive: true });
    const path = replace(join('rules', file), make);
    const before = name === 'a symbolic link' ? readFileSync(join(made, 'outside')) : undefined;
    const { status, stdout } = await floodgate(['verify', '--data-dir', folder]);
    expect(stdout).toBe(`rules: failed: ${path} is ${name}; only regular files are allowed\n`);
    expect(status).toBe(1);
    // The file to which a link leads was not changed.
    if (before !== undefined) expect(readFileSync(join(made, 'outside')).equals(before)).toBe(true);
  });

  it('does not pass verify if its lock folder is a symbolic link', async () => {
    rmSync(join(folder, 'rules', 'opening-lock'), { recursive: true, force: true });
    const path = replace('rules/opening-lock', (at) => symlinkSync(made, at));
    const { stdout } = await floodgate(['verify', '--data-dir', folder]);
    expect(stdout).toBe(`rules: failed: ${path} is a symbolic link; only folders are allowed\n`);
    expect(existsSync(join(made, 'data.mdb'))).toBe(false);
  });

  it('is not opened by a server or a command if the file of a store is a named pipe', async () => {
    const path = replace('rules/data.mdb', (at) => spawnSync('mkfifo', [at]));
    const { status, stderr } = await floodgate(['token', 'list', '--data-dir', folder]);
    expect(stderr).toBe(`floodgate: ${path} is a named pipe; only regular files are allowed\n`);
    expect(status).toBe(1);
  });

  it('provides no profile if the file is a named pipe', async () => {
    const path = replace('profile', (at) => spawnSync('mkfifo', [at]));
    const target = mkdtempSync(join(made, 'target-'));
    const { status, stderr } = await floodgate(['dns', 'profile', 'import', path, '--data-dir', target]);
    expect(stderr).toBe(`floodgate: ${path} is a named pipe; only regular files are allowed\n`);
    expect(status).toBe(1);
  });
});
