import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { cleanEnvironment } from '../../support/cleanEnvironment.ts';
import { spawnGuarded } from '../../support/spawn.ts';
import { root } from './run.ts';

export interface Dev {
  /** What was started: a shell or npm, with Floodgate somewhere below. */
  readonly process: ChildProcess;
  readonly pid: number;
  /** What it printed first. */
  readonly welcome: string;
  /** Empty where it has no gateway. */
  readonly gatewayUrl: string;
  /** Everything it wrote on standard error, its log among it. */
  log(): string;
  /** Settles with the exit code when it has ended. */
  readonly ended: Promise<number | null>;
}

/** Starts the development server as a newcomer does, in a process group of its own, and waits for its first words. */
export async function startDev(
  dataDir: string,
  command: readonly [string, ...string[]] = [process.execPath, `${root}scripts/start.js`, 'dev'],
  cwd = root,
): Promise<Dev> {
  const [file, ...args] = command;
  const child = spawnGuarded(file, [...args, '--port', '0', '--data-dir', dataDir], {
    cwd,
    env: cleanEnvironment(),
  });
  let log = '';
  child.stderr.on('data', (chunk) => {
    log += chunk;
  });
  const ended = once(child, 'exit').then(([code]) => code as number | null); // the first argument of 'exit'
  const lines: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    lines.push(line);
    if (line.startsWith('Ctrl-C stops it')) break;
  }
  child.stdout.resume();
  const welcome = lines.join('\n');
  const gatewayUrl = /http:\/\/127\.0\.0\.1:\d+\/v1\/mainnet/.exec(welcome)?.[0] ?? '';
  if (!welcome.includes('Rules API') || child.pid === undefined)
    throw new Error(`it did not tell its URL:\n${welcome}\n${log}`);
  return { process: child, pid: child.pid, welcome, gatewayUrl, log: () => log, ended };
}
