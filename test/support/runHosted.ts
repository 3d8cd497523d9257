import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { Listening } from './listening.ts';
import { PROGRAM } from './program.ts';
import type { Running } from './runProgram.ts';
import { type GuardedChild, spawnGuarded } from './spawn.ts';

/** What `serverHost.ts` reads: a server to start, or the one to stop. */
export type HostRequest = { readonly id: number } & (
  | { readonly start: { readonly args: readonly string[]; readonly env: NodeJS.ProcessEnv } }
  | { readonly stop: true }
);

/** What it writes: a line of a server's log, that it has stopped, or why it could not be started or stopped. */
export type HostAnswer = { readonly id: number } & (
  | { readonly line: string }
  | { readonly stopped: true }
  | { readonly failed: string }
);

/** `serverHost.ts`, bundled as the program is. */
const HOST = join(dirname(PROGRAM), 'serverHost.js');

interface Hosted {
  readonly log: Listening;
  ended(failure?: string): void;
}

/** The process that a worker of vitest's starts its servers in, from the first one on. */
let host: Host | undefined;

/**
 * Starts a server with these arguments of `floodgate start`, and waits until it listens: in one process with all that this
 * worker starts so, since a process takes half a second of processor and a server a tenth. Tests of signals, of what a
 * process writes, weighs or leaves take `runProgram`.
 */
export async function runHosted(args: readonly string[], env: NodeJS.ProcessEnv): Promise<Running> {
  if (host === undefined || host.hasEnded) host = new Host();
  return host.start(args, env);
}

/** Whether this is the process of the servers, which goes on to the next file of tests. */
export const isHost = (child: unknown): boolean => child === host?.child;

/** Ends that process where tests left servers in it, as where a hook failed. */
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
    // Away from any floodgate.yaml.
    this.child = spawnGuarded(process.execPath, [HOST], { cwd: tmpdir(), stdin: 'pipe' });
    createInterface(this.child.stdout).on('line', (line) => this.#read(JSON.parse(line) as HostAnswer));
    let written = '';
    this.child.stderr.on('data', (chunk) => {
      written += chunk;
    });
    this.child.once('close', (code) => {
      this.hasEnded = true;
      for (const server of this.#servers.values())
        server.ended(`the process of the servers ended with ${code}: ${written}`);
    });
  }

  async start(args: readonly string[], env: NodeJS.ProcessEnv): Promise<Running> {
    const id = ++this.#lastId;
    const log = new Listening();
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
    this.#send({ id, start: { args, env } });
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
