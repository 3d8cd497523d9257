import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { Listening } from './listening.ts';
import { PROGRAM } from './program.ts';
import { spawnGuarded } from './spawn.ts';

/** A started server. */
export interface Running {
  /** Where it listens: `http://127.0.0.1:PORT`. */
  readonly url: string;
  /** Where it answers DNS; 0 without a guard. */
  readonly dnsPort: number;
  /** Everything it wrote so far, on both streams. */
  output(): string;
  /** Ends it as an operator would, and waits for its end; resolves with the exit code. */
  stop(): Promise<number | null>;
}

/** A started server that has a process of its own. */
export interface RunningProgram extends Running {
  readonly process: ChildProcess;
  /** Ends it as a power cut would. */
  kill(): Promise<void>;
}

/** Starts the compiled program, in a process of its own, and waits until it listens. */
export async function runProgram(
  args: readonly string[],
  { env, cwd }: { readonly env: NodeJS.ProcessEnv; readonly cwd?: string },
): Promise<RunningProgram> {
  const child = spawnGuarded(process.execPath, [PROGRAM, ...args], {
    env,
    ...(cwd !== undefined && { cwd }),
  });
  const ended = once(child, 'exit');
  const log = new Listening();
  for (const stream of [child.stdout, child.stderr])
    createInterface(stream).on('line', (line) => log.add(line));
  child.once('close', (code) => log.ended(`Floodgate ended with ${code}`));
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill(signal);
    await ended;
  };
  return {
    ...(await log.listening),
    output: () => log.written,
    process: child,
    async stop() {
      await end('SIGTERM');
      return child.exitCode;
    },
    kill: () => end('SIGKILL'),
  };
}
