import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { cleanEnvironment } from '../../support/cleanEnvironment.ts';
import { spawnGuarded } from '../../support/spawn.ts';
import { root } from './run.ts';

export interface Dev {
  /** The started process: Floodgate, or a shell or npm with Floodgate as a descendant. */
  readonly process: ChildProcess;
  readonly pid: number;
  /** The printed start message. */
  readonly startMessage: string;
  /** Empty if there is no gateway. */
  readonly gatewayUrl: string;
  /** Returns its standard error, including its log. */
  log(): string;
  /** Resolves with the exit code. */
  readonly ended: Promise<number | null>;
}

/** Starts the development server in a separate process group, and waits for its start message. */
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
  const ended = once(child, 'close').then(([code]) => code as number | null); // the first argument of 'close'
  const lines: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    lines.push(line);
    if (line.startsWith('Press Ctrl-C to stop')) break;
  }
  child.stdout.resume();
  const welcome = lines.join('\n');
  const gatewayUrl = /http:\/\/127\.0\.0\.1:\d+\/v1\/mainnet/.exec(welcome)?.[0] ?? '';
  if (!welcome.includes('Rules API') || child.pid === undefined)
    throw new Error(`the development server did not print its URL:\n${welcome}\n${log}`);
  return { process: child, pid: child.pid, startMessage: welcome, gatewayUrl, log: () => log, ended };
}
