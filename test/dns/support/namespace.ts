import { execFile, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { PROGRAM } from '../../support/program.ts';
import { spawnGuarded } from '../../support/spawn.ts';

const run = promisify(execFile);

/** Why a test that needs a network of its own cannot run here; undefined where it can. */
export const noNamespace: string | undefined =
  process.getuid?.() !== 0
    ? 'a network namespace needs root'
    : spawnSync('unshare', ['-n', 'sh', '-c', 'ip link set lo up && python3 -V && nsenter -V']).status !== 0
      ? 'unshare, nsenter, ip or python3 is not there'
      : undefined;

/** `floodgate start` in a network in which there is nothing but loopback: no route leads anywhere. */
export class Secluded {
  readonly #child;
  readonly #exited: Promise<unknown[]>;
  output = '';

  constructor(dataDir: string, node: string, ...flags: string[]) {
    const args = ['start', '--rules-only', '--data-dir', dataDir, '--dns-account', 'acme', ...flags];
    const command = ['sh', '-c', 'ip link set lo up && exec "$@"', 'sh', node, PROGRAM, ...args];
    this.#child = spawnGuarded('unshare', ['-n', ...command]);
    this.#exited = once(this.#child, 'exit');
    for (const input of [this.#child.stdout, this.#child.stderr])
      createInterface({ input }).on('line', (line) => {
        this.output += `${line}\n`;
      });
  }

  /** Runs a command in the same network; resolves with what it writes. */
  async inside(file: string, ...args: string[]): Promise<string> {
    const { stdout } = await run('nsenter', ['-t', String(this.#child.pid), '-n', file, ...args]);
    return stdout;
  }

  /** Starts a command in the same network; returns how to end it. */
  runInside(file: string, ...args: string[]): () => Promise<void> {
    const child = spawnGuarded('nsenter', ['-t', String(this.#child.pid), '-n', file, ...args]);
    for (const stream of [child.stdout, child.stderr]) stream.resume();
    const exited = once(child, 'exit');
    return async () => {
      child.kill('SIGKILL');
      await exited;
    };
  }

  get descriptors(): number {
    return readdirSync(`/proc/${this.#child.pid}/fd`).length;
  }

  /** Resolves with the exit code and the signal that ended it. */
  async stop(signal: NodeJS.Signals): Promise<unknown[]> {
    this.#child.kill(signal);
    return this.#exited;
  }
}
