import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { StartupLog } from './listening.ts';
import { nodeFlagsOf, PROGRAM } from './program.ts';
import { spawnGuarded } from './spawn.ts';

/** A started server. */
export interface Running {
  /** Address of the HTTP server: `http://127.0.0.1:PORT`. */
  readonly url: string;
  /** DNS port; 0 without a guard. */
  readonly dnsPort: number;
  /** Returns everything written so far on both streams. */
  output(): string;
  /** Stops the server with SIGTERM, and returns the exit code. */
  stop(): Promise<number | null>;
}

/** A started server in a separate process. */
export interface RunningProgram extends Running {
  readonly process: ChildProcess;
  /** Ends the process with SIGKILL. */
  kill(): Promise<void>;
}

export interface ProgramOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly cwd?: string;
  /** Command that runs the program. Default: this Node and the program of this checkout. */
  readonly command?: readonly [file: string, ...args: string[]];
}

/** Starts the compiled program in a separate process, and waits until it listens. */
export async function runProgram(
  args: readonly string[],
  {
    env,
    cwd,
    command: [file, ...first] = [process.execPath, ...nodeFlagsOf(PROGRAM), PROGRAM],
  }: ProgramOptions,
): Promise<RunningProgram> {
  const child = spawnGuarded(file, [...first, ...args], {
    env,
    ...(cwd !== undefined && { cwd }),
  });
  const ended = once(child, 'close');
  const log = new StartupLog();
  for (const stream of [child.stdout, child.stderr])
    createInterface(stream).on('line', (line) => log.add(line));
  child.once('close', (code) => log.ended(`Floodgate exited with ${code}`));
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
