import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { stripVTControlCharacters } from 'node:util';
import { cleanEnvironment } from '../../support/cleanEnvironment.ts';
import { PROGRAM } from '../../support/program.ts';
import { spawnGuarded } from '../../support/spawn.ts';

/** Whether `script` of util-linux is installed, which runs a command on a terminal. */
export const isTerminalAvailable = /util-linux/.test(
  spawnSync('script', ['--version']).stdout?.toString() ?? '',
);

interface TerminalOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Input to type when the output contains a text for the first time, in this order. */
  readonly typed: Readonly<Record<string, string>>;
}

/** Runs `floodgate` on a terminal. Returns its output without control characters, and its exit code. */
export async function onTerminal(
  args: readonly string[],
  { env, typed }: TerminalOptions,
): Promise<{ output: string; code: number }> {
  const command = [process.execPath, PROGRAM, ...args].map((word) => `'${word}'`).join(' ');
  const child = spawnGuarded('script', ['--quiet', '--return', '--command', command, '/dev/null'], {
    env: cleanEnvironment(env),
    stdin: 'pipe',
  });
  const waiting = Object.entries(typed);
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
    const [next] = waiting;
    if (next === undefined || !output.includes(next[0])) return;
    waiting.shift();
    child.stdin?.write(next[1]);
  });
  const [code] = (await once(child, 'close')) as [number]; // the first argument of 'close'
  return { output: stripVTControlCharacters(output), code };
}
