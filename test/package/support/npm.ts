import { expect } from 'vitest';
import { run } from '../../server/support/run.ts';

/** Runs npm in a folder and returns its standard output. Prefers the npm cache; packages run no scripts. */
export async function npm(cwd: string, ...args: readonly string[]): Promise<string> {
  const quiet = ['--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund', '--loglevel', 'error'];
  const { code, stdout, stderr } = await run('npm', [...args, ...quiet], { cwd });
  expect(code, stderr).toBe(0);
  return stdout;
}
