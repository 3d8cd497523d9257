import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type GuardedChild, spawnGuarded } from '../../src/devchain/index.ts';

const MAIN = fileURLToPath(new URL('../../../cli/main.js', import.meta.url));
const READY_TIMEOUT_MS = 120_000;
/** A token that the rules API accepts for every account. */
export const TOKEN = 'fg_chaos_token_that_may_do_everything_000';

export interface ProgramOptions {
  readonly port: number;
  readonly dataDir: string;
  readonly flags: readonly string[];
  readonly logFile: string;
}

/** Floodgate in a process that is killed and restarted with the same folder and ports. */
export class Program {
  readonly url: string;
  readonly gatewayUrl: string;
  isUp = false;
  /** Number of unexpected exits. */
  crashes = 0;
  readonly #options: ProgramOptions;
  #child: GuardedChild | undefined;
  #isToEnd = false;

  constructor(options: ProgramOptions) {
    this.#options = options;
    this.url = `http://127.0.0.1:${options.port}`;
    this.gatewayUrl = `${this.url}/v1/mainnet`;
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  /** Resolves when the program is ready and `beforeUse` has resolved. */
  async start(beforeUse?: () => Promise<void>): Promise<void> {
    const { port, dataDir, flags, logFile } = this.#options;
    const args = [MAIN, 'start', '--port', String(port), '--data-dir', dataDir, ...flags];
    const env = { ...process.env, FLOODGATE_API_TOKEN: TOKEN };
    const child = spawnGuarded(process.execPath, args, { env });
    const log = createWriteStream(logFile, { flags: 'a' });
    child.stdout.pipe(log);
    child.stderr.pipe(log);
    this.#child = child;
    this.#isToEnd = false;
    child.once('exit', (code, signal) => {
      this.isUp = false;
      if (this.#isToEnd) return;
      this.crashes++;
      console.log(`the program exited unexpectedly: ${signal ?? `exit code ${code}`}`);
    });
    const deadline = performance.now() + READY_TIMEOUT_MS;
    while (!(await this.isReady())) {
      if (performance.now() > deadline) throw new Error(`the program did not become ready: see ${logFile}`);
      if (child.exitCode !== null) throw new Error(`the program exited during its start: see ${logFile}`);
      await pause(50);
    }
    await beforeUse?.();
    this.isUp = true;
  }

  async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    this.#isToEnd = true;
    this.isUp = false;
    const exited = once(child, 'exit');
    child.kill(signal);
    await exited;
  }

  async isReady(): Promise<boolean> {
    return fetch(`${this.url}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
  }
}
