import { createInterface } from 'node:readline';
import { spawnGuarded } from './guardedChild.ts';

/** Loading a state of some 100 MB takes seconds on a slow disk; a start that takes longer than this hangs. */
const START_TIMEOUT_MS = 30_000;
/** A node ends within a second of SIGTERM; one that takes longer than this is stuck. */
const STOP_TIMEOUT_MS = 5_000;
/** Of a node's output, what an error message quotes. */
const LAST_LINES = 20;

/** How a process ended: one of the two is set, none where it could not be run. */
export interface Exit {
  readonly code: number | null;
  readonly signal: string | null;
}

export interface NodeProcess {
  readonly pid: number;
  /** What the first group of `ready` matched. */
  readonly match: string;
  /** Settles when the process has ended, for whatever reason. */
  readonly exited: Promise<Exit>;
  runs(): boolean;
  /** Asks the process to end, and ends it where it does not. */
  stop(): Promise<void>;
}

/**
 * Runs a node that cannot outlive this process, and resolves when it prints a line that `ready` matches. Its output
 * is read for as long as it runs: a full pipe would stop it.
 *
 * @throws Error with the node's last lines where it ends first, or says nothing for `START_TIMEOUT_MS`.
 */
export async function startProcess(options: {
  readonly name: string;
  readonly file: string;
  readonly args: readonly string[];
  readonly ready: RegExp;
}): Promise<NodeProcess> {
  const { name, file, args, ready } = options;
  const child = spawnGuarded(file, args);
  const exited = new Promise<Exit>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
    child.once('error', () => resolve({ code: null, signal: null }));
  });
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM');
    const force = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
    await exited;
    clearTimeout(force);
  };

  const last: string[] = [];
  let deadline: NodeJS.Timeout | undefined;
  try {
    const match = await new Promise<string>((resolve, reject) => {
      const failed = (what: string) =>
        reject(new Error(`${name} ${what}. Its last lines:\n${last.join('\n') || '(none)'}`));
      const hear = (line: string) => {
        last.push(line);
        if (last.length > LAST_LINES) last.shift();
        const found = ready.exec(line)?.[1];
        if (found !== undefined) resolve(found);
      };
      for (const stream of [child.stdout, child.stderr])
        if (stream) createInterface({ input: stream }).on('line', hear);
      child.once('error', (error) => failed(`cannot be run (${error.message})`));
      // 'close' comes after the last of the output, which says what went wrong.
      child.once('close', (code, signal) =>
        failed(`ended before it was ready (${signal ?? `code ${code}`})`),
      );
      deadline = setTimeout(() => failed(`was not ready within ${START_TIMEOUT_MS} ms`), START_TIMEOUT_MS);
    });
    if (child.pid === undefined) throw new Error(`${name} has no process id`);
    const runs = () => child.exitCode === null && child.signalCode === null;
    return { pid: child.pid, match, exited, runs, stop };
  } catch (error) {
    child.kill('SIGKILL');
    await exited;
    throw error;
  } finally {
    clearTimeout(deadline);
  }
}
