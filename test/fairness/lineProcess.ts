import { createInterface } from 'node:readline';
import { type GuardedChild, spawnGuarded } from '../support/spawn.ts';

/** A child process that answers with lines. */
export class LineProcess {
  readonly #child: GuardedChild;
  readonly #lines: AsyncIterator<string>;
  #errors = '';

  /** Runs a compiled script with an argument as JSON. */
  constructor(script: string, argument: unknown) {
    const args = ['--enable-source-maps', script, JSON.stringify(argument)];
    this.#child = spawnGuarded(process.execPath, args, { stdin: 'pipe' });
    this.#lines = createInterface(this.#child.stdout)[Symbol.asyncIterator]();
    this.#child.stderr.on('data', (chunk) => {
      this.#errors += chunk;
    });
  }

  send(command: string): void {
    this.#child.stdin?.write(`${command}\n`);
  }

  /** Rejects if the process has ended. */
  async line(): Promise<string> {
    const { value, done } = await this.#lines.next();
    if (done) throw new Error(`a client process ended: ${this.#errors}`);
    return value;
  }

  kill(signal: 'SIGTERM' | 'SIGKILL'): void {
    this.#child.kill(signal);
  }
}
