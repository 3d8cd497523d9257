import { tmpdir } from 'node:os';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Tuning } from '../../src/server/index.ts';
import { StartupLog } from './listening.ts';
import type { Running } from './runProgram.ts';
import { type GuardedChild, spawnGuarded } from './spawn.ts';

/** A line that `serverHost.ts` reads: start a server, or stop one. */
export type HostRequest = { readonly id: number } & (
  | { readonly start: HostedServer }
  | { readonly stop: true }
);

export interface HostedServer {
  /** Arguments of `floodgate start`. */
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly tuning?: Tuning | undefined;
}

/** A line that `serverHost.ts` writes: a log line of a server, its stop, or why a start or stop failed. */
export type HostAnswer = { readonly id: number } & (
  | { readonly line: string }
  | { readonly stopped: true }
  | { readonly failed: string }
);

/** `serverHost.ts`, bundled like the program. */
const HOST = `${fileURLToPath(new URL('../../dist/.tests', import.meta.url))}/serverHost.js`;

interface Hosted {
  readonly log: StartupLog;
  ended(failure?: string): void;
}

/** The process in which a vitest worker starts its servers, after the first one. */
let host: Host | undefined;

/**
 * Starts a server and waits until it listens. All servers of a vitest worker run in one process, because a process
 * takes 0.5 s of processor time and a server 0.1 s. Tests of signals, memory, output or files of a process use
 * `runProgram`.
 */
export async function runHosted(server: HostedServer): Promise<Running> {
  if (host === undefined || host.hasEnded) host = new Host();
  return host.start(server);
}

/** Returns whether this is the process of the servers, which continues with the next test file. */
export const isHost = (child: unknown): boolean => child === host?.child;

/** Ends the process of the servers if tests left servers running in it, for example after a failed hook. */
export function endAbandoned(): void {
  if (host === undefined || host.isIdle) return;
  host.end();
  host = undefined;
}

class Host {
  readonly child: GuardedChild;
  hasEnded = false;
  readonly #servers = new Map<number, Hosted>();
  #lastId = 0;

  constructor() {
    // A working folder without a floodgate.yaml.
    this.child = spawnGuarded(process.execPath, [HOST], { cwd: tmpdir(), stdin: 'pipe' });
    createInterface(this.child.stdout).on('line', (line) => this.#read(JSON.parse(line) as HostAnswer));
    let written = '';
    this.child.stderr.on('data', (chunk) => {
      written += chunk;
    });
    this.child.once('close', (code) => {
      this.hasEnded = true;
      for (const server of this.#servers.values())
        server.ended(`the process of the servers exited with ${code}: ${written}`);
    });
  }

  async start(server: HostedServer): Promise<Running> {
    const id = ++this.#lastId;
    const log = new StartupLog();
    let failure: string | undefined;
    const ended = new Promise<void>((resolve) => {
      this.#servers.set(id, {
        log,
        ended: (reason) => {
          failure = reason;
          this.#servers.delete(id);
          log.ended(`Floodgate ended${reason === undefined ? '' : `: ${reason}`}`);
          resolve();
        },
      });
    });
    this.#send({ id, start: server });
    const stop = async (): Promise<number> => {
      if (this.#servers.has(id)) this.#send({ id, stop: true });
      await ended;
      if (failure !== undefined) throw new Error(failure);
      return 0;
    };
    return { ...(await log.listening), output: () => log.written, stop };
  }

  get isIdle(): boolean {
    return this.#servers.size === 0;
  }

  end(): void {
    this.child.kill('SIGKILL');
  }

  #send(request: HostRequest): void {
    this.child.stdin?.write(`${JSON.stringify(request)}\n`);
  }

  #read(answer: HostAnswer): void {
    const server = this.#servers.get(answer.id);
    if ('line' in answer) server?.log.add(answer.line.trimEnd());
    else server?.ended('failed' in answer ? answer.failed : undefined);
  }
}
