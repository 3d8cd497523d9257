import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { closingLine } from './closingLine.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Programs that tests start. */
const PROGRAMS = [
  'test/support/serverHost.ts',
  'test/fairness/greedyProcess.ts',
  'test/fairness/authorityProcess.ts',
  'test/fairness/politeProcess.ts',
];

/**
 * Builds the program and the host of the tests' servers once before all tests. Black-box tests run the program as it
 * is shipped.
 */
export default function build(): void {
  try {
    run('npm', 'run', '--silent', 'build');
    run(process.execPath, 'scripts/bundle.js', 'dist/.tests', ...PROGRAMS);
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
