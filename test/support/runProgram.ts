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

export interface ProgramOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly cwd?: string;
  /** What runs it, left out: this Node and the program of this checkout. */
  readonly command?: readonly [file: string, ...args: string[]];
}

/** Starts the compiled program, in a process of its own, and waits until it listens. */
export async function runProgram(
  args: readonly string[],
  { env, cwd, command: [file, ...first] = [process.execPath, PROGRAM] }: ProgramOptions,
): Promise<RunningProgram> {
  const child = spawnGuarded(file, [...first, ...args], {
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
