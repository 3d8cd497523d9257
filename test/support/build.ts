import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { type Plugin, rolldown } from 'rolldown';
import { closingLine } from './closingLine.ts';
import { PROGRAM } from './program.ts';
import { spawnGuarded } from './spawn.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Black-box tests run what users run: the compiled program. It is built once, before any test. */
export default async function build(): Promise<void> {
  try {
    const { status } = spawnSync('npm', ['run', '--silent', 'build'], { cwd: root, stdio: 'inherit' });
    if (status !== 0) throw new Error('npm run build failed: see the compiler messages above');
    if (!isBundled()) {
      await bundle();
      await compile();
    }
  } catch (error) {
    // No reporter is told of this.
    process.stdout.write(`\nNo test was run.\n${closingLine({ passed: 0, failed: 1, skipped: 0 })}\n`);
    throw error;
  }
}

/** Whether nothing was compiled, and no package installed, since the program was bundled. */
function isBundled(): boolean {
  const changed = [
    'dist/.tsbuildinfo',
    'node_modules/.package-lock.json',
    'test/support/build.ts',
    'test/support/codeCache.cjs',
    'test/support/serverHost.ts',
  ];
  const bundledMs = modifiedMs(PROGRAM);
  return changed.every((file) => modifiedMs(`${root}${file}`) < bundledMs);
}

const modifiedMs = (file: string): number => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;

/** What a module finds beside itself (a thread's program, a page, package.json), it finds from within the bundle, too. */
const IN_PLACE: Plugin = {
  name: 'in-place',
  transform(code, id) {
    if (!id.startsWith(`${root}dist/`) || !code.includes('import.meta.url')) return;
    return code.replaceAll('import.meta.url', JSON.stringify(pathToFileURL(id).href));
  },
};

/** What the tests' own program takes of the sources is what was compiled of them. */
const COMPILED: Plugin = {
  name: 'compiled',
  resolveId: (id) =>
    id.startsWith('../../src/') ? id.replace('../../src/', `${root}dist/`).replace(/\.ts$/, '.js') : null,
};

/** Packages that load files of their own at run time: binaries, and the programs of threads. */
const NOT_BUNDLED = [/^lmdb/, /^pino/, /^@foundry-rs/];

/** As CommonJS, the only kind of modules that Node 20 takes compiled code for. */
async function bundle(): Promise<void> {
  const bundled = await rolldown({
    input: { program: `${root}dist/cli/main.js`, serverHost: `${root}test/support/serverHost.ts` },
    platform: 'node',
    external: NOT_BUNDLED,
    plugins: [COMPILED, IN_PLACE],
    logLevel: 'warn',
  });
  await bundled.write({
    dir: dirname(PROGRAM),
    format: 'cjs',
    entryFileNames: '[name].cjs',
    chunkFileNames: '[name]-[hash].cjs',
    keepNames: true,
    cleanDir: true,
  });
  await bundled.close();
  copyFileSync(`${root}test/support/codeCache.cjs`, PROGRAM);
}

/** Starts the program once and keeps what V8 compiled of it: half of the processor time of a start. */
async function compile(): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'floodgate-test-build-'));
  const child = spawnGuarded(
    process.execPath,
    [PROGRAM, 'start', '--rules-only', '--port', '0', '--data-dir', dataDir],
    { env: { KEEP_COMPILED_CODE: '1' } },
  );
  const ended = once(child, 'exit');
  child.stdout.resume();
  for await (const line of createInterface(child.stderr))
    if (line.includes('"listening"')) child.kill('SIGTERM');
  const [status] = await ended;
  rmSync(dataDir, { recursive: true, force: true });
  if (status !== 0) throw new Error(`the bundled program ended with ${status} when it was started`);
}
