import { execFile, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { PROGRAM } from '../../support/program.ts';
import { spawnGuarded } from '../../support/spawn.ts';

const run = promisify(execFile);

/** Reason why tests that need a network namespace are skipped; undefined if they can run. */
export const noNamespace: string | undefined =
  process.getuid?.() !== 0
    ? 'a network namespace needs root'
    : spawnSync('unshare', ['-n', 'sh', '-c', 'ip link set lo up && python3 -V && nsenter -V']).status !== 0
      ? 'unshare, nsenter, ip or python3 is not installed'
      : undefined;

/** `floodgate start` in a network namespace that has only the loopback interface and no routes. */
export class NamespacedProgram {
  readonly #child;
  readonly #exited: Promise<unknown[]>;
  output = '';

  constructor(dataDir: string, node: string, ...flags: string[]) {
    const args = ['start', '--role', 'rules,guard', '--data-dir', dataDir, '--dns-account', 'acme', ...flags];
    const command = ['sh', '-c', 'ip link set lo up && exec "$@"', 'sh', node, PROGRAM, ...args];
    this.#child = spawnGuarded('unshare', ['-n', ...command]);
    this.#exited = once(this.#child, 'close');
    for (const input of [this.#child.stdout, this.#child.stderr])
      createInterface({ input }).on('line', (line) => {
        this.output += `${line}\n`;
      });
  }

  /** Runs a command in the namespace, and returns its standard output. */
  async inside(file: string, ...args: string[]): Promise<string> {
    const { stdout } = await run('nsenter', ['-t', String(this.#child.pid), '-n', file, ...args]);
    return stdout;
  }

  /** Starts a command in the namespace, and returns a function that ends it. */
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

  /** Sends the signal, and returns the exit code and the signal that ended the process. */
  async stop(signal: NodeJS.Signals): Promise<unknown[]> {
    this.#child.kill(signal);
    return this.#exited;
  }
}
