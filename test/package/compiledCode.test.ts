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
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { root, run } from '../server/support/run.ts';
import { cleanEnvironment } from '../support/cleanEnvironment.ts';
import { installedNode } from '../support/newerNode.ts';
import { runProgram } from '../support/runProgram.ts';

const PROGRAM = `${root}dist/bundle/floodgate.js`;
const { version } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));
const WELL = { code: 0, stdout: `${version}\n`, stderr: '' };

const LINES = [
  { name: 'this Node', node: process.execPath },
  ...[22, 24].map((major) => ({ name: `Node ${major}`, node: installedNode(major) })),
];

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'floodgate-compiled-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What was kept: when each file was written, and how long it is. */
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

describe.for(LINES)('the code that V8 compiled, on $name', ({ name, node }) => {
  const start = (cache: string, env: Record<string, string> = {}) =>
    run(node ?? '', [PROGRAM, '--version'], { env: { XDG_CACHE_HOME: cache, ...env } });

  it.skipIf(node === undefined)('is kept for its user alone, and taken by the next start', async () => {
    const cache = join(folder, name, 'kept');
    expect(await start(cache)).toEqual(WELL);
    const first = kept(cache);
    expect(first.size).toBeGreaterThan(0);
    expect(statSync(join(cache, 'floodgate/compiled')).mode & 0o777).toBe(0o700);
    expect(await start(cache)).toEqual(WELL);
    expect(kept(cache)).toEqual(first);
  });

  it.skipIf(node === undefined)(
    'of a server is not that of a command that ran before it, nor of a start that failed',
    async () => {
      const cache = join(folder, name, 'apart');
      await start(cache);
      const ofCommand = kept(cache);
      expect(ofCommand.size).toBeGreaterThan(0);
      const env = { XDG_CACHE_HOME: cache };
      await run(node ?? '', [PROGRAM, 'start', '--port', 'none'], { env });
      expect(kept(cache)).toEqual(ofCommand);
      const flags = ['--rules-only', '--port', '0', '--data-dir', join(cache, 'data')];
      const command = [node ?? '', PROGRAM] as const;
      await (await runProgram(['start', ...flags], { env: cleanEnvironment(env), command })).stop();
      const ofServer = [...kept(cache).keys()].filter((file) => !ofCommand.has(file));
      const digests = (files: Iterable<string>) => [...files].map((file) => basename(file));
      expect(digests(ofServer)).toEqual(expect.arrayContaining(digests(ofCommand.keys())));
    },
  );

  it.skipIf(node === undefined)('is compiled anew where a file is not as it was written', async () => {
    const cache = join(folder, name, 'damaged');
    await start(cache);
    const first = kept(cache);
    const damages: ((code: Buffer) => Buffer)[] = [
      () => Buffer.alloc(0),
      (code) => code.subarray(0, code.length >>> 1),
      (code) => Buffer.concat([code.subarray(0, 100), Buffer.alloc(code.length - 100)]),
      (code) => code.map((byte, i) => (i === code.length - 200 ? byte ^ 1 : byte)) as Buffer,
    ];
    for (const damage of damages) {
      for (const file of first.keys()) writeFileSync(file, damage(readFileSync(file)));
      expect(await start(cache)).toEqual(WELL);
    }
    expect(await start(cache)).toEqual(WELL);
    expect([...kept(cache).values()].map(({ bytes }) => bytes > 200)).not.toContain(false);
  });

  it.skipIf(node === undefined)(
    'is not kept where others can write, nor where it is not wanted',
    async () => {
      const open = join(folder, name, 'open');
      mkdirSync(join(open, 'floodgate/compiled'), { recursive: true });
      chmodSync(join(open, 'floodgate/compiled'), 0o777);
      expect(await start(open)).toEqual(WELL);
      expect(kept(open).size).toBe(0);
      const off = join(folder, name, 'off');
      expect(await start(off, { NODE_DISABLE_COMPILE_CACHE: '1' })).toEqual(WELL);
      mkdirSync(join(off, 'floodgate/compiled'), { recursive: true });
      expect(kept(off).size).toBe(0);
    },
  );

  it.skipIf(node === undefined)('is done without where nothing can be written', async () => {
    const file = join(folder, name, 'file');
    mkdirSync(join(folder, name), { recursive: true });
    writeFileSync(file, '');
    expect(await start(file)).toEqual(WELL);
  });
});
