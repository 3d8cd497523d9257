import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { closingLine } from './closingLine.ts';
import { PROGRAM } from './program.ts';
import { spawnGuarded } from './spawn.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

/**
 * Builds the program and the host of the tests' servers once before all tests. Black-box tests run the program as it
 * is shipped.
 */
export default async function build(): Promise<void> {
  try {
    run('npm', 'run', '--silent', 'build');
    run(process.execPath, 'scripts/bundle.js', 'dist/.tests', 'test/support/serverHost.ts');
    if (!isCompiled()) await compile();
  } catch (error) {
    // No reporter reports an error in the global setup.
    process.stdout.write(`\nNo test was run.\n${closingLine({ passed: 0, failed: 1, skipped: 0 })}\n`);
    throw error;
  }
}

function run(file: string, ...args: readonly string[]): void {
  const { status } = spawnSync(file, args, { cwd: root, stdio: 'inherit' });
  if (status !== 0) throw new Error(`${args.join(' ')} failed: see the messages above`);
}

/** Returns whether the stored compiled code is newer than the bundle. */
function isCompiled(): boolean {
  const compiledMs = modifiedMs(PROGRAM);
  return ['dist/bundle/floodgate.js', 'dist/.tests/serverHost.js', 'test/support/codeCache.cjs'].every(
    (file) => modifiedMs(`${root}${file}`) < compiledMs,
  );
}

const modifiedMs = (file: string): number => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;

/** Starts the program once and stores the code that V8 compiled, which halves the processor time of a start. */
async function compile(): Promise<void> {
  copyFileSync(`${root}test/support/codeCache.cjs`, PROGRAM);
  const dataDir = mkdtempSync(join(tmpdir(), 'floodgate-test-build-'));
  const child = spawnGuarded(
    process.execPath,
    [PROGRAM, 'start', '--role', 'rules', '--port', '0', '--data-dir', dataDir],
    { env: { KEEP_COMPILED_CODE: '1' } },
  );
  const ended = once(child, 'exit');
  child.stdout.resume();
  for await (const line of createInterface(child.stderr))
    if (line.includes('"listening"')) child.kill('SIGTERM');
  const [status] = await ended;
  rmSync(dataDir, { recursive: true, force: true });
  if (status !== 0) throw new Error(`the bundled program exited with ${status} at its first start`);
}
