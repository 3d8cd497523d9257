import { createInterface } from 'node:readline';
import { spawnGuarded } from './guardedChild.ts';

/** Maximum time until the node is ready. On a slow disk, it takes seconds to load a state of some 100 MB. */
const START_TIMEOUT_MS = 30_000;
/** Time between SIGTERM and SIGKILL. A node normally exits within a second after SIGTERM. */
const STOP_TIMEOUT_MS = 5_000;
/** Number of the node's last output lines that an error message quotes. */
const LAST_LINES = 20;

/** How a process ended: with an exit code or by a signal. Both members are null if the process could not be run. */
export interface Exit {
  readonly code: number | null;
  readonly signal: string | null;
}

export interface NodeProcess {
  readonly pid: number;
  /** Text that the first capture group of `ready` matched in the node's output. */
  readonly match: string;
  /** Resolves when the process has ended, for any reason. Never rejects. */
  readonly exited: Promise<Exit>;
  runs(): boolean;
  /** Sends SIGTERM, then SIGKILL if the process does not end in time. Resolves when the process has ended. */
  stop(): Promise<void>;
}

/**
 * Runs a node that cannot outlive this process, and resolves when the node prints a line that matches `ready`. Reads
 * the node's output until the node exits, because a full pipe would block it. Throws Error with the last lines of the
 * output if the node exits before it is ready, or is not ready within `START_TIMEOUT_MS`.
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
      // The output shows the cause of the failure, and `close`, unlike `exit`, is emitted after the last output.
      child.once('close', (code, signal) =>
        failed(`exited before it was ready (${signal ?? `code ${code}`})`),
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
