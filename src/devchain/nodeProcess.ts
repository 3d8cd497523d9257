import { createInterface } from 'node:readline';
import { spawnGuarded } from './guardedChild.ts';

/** Start timeout. Loading a state of some 100 MB takes seconds on a slow disk. */
const START_TIMEOUT_MS = 30_000;
/** Time from SIGTERM to SIGKILL. A node normally exits within a second. */
const STOP_TIMEOUT_MS = 5_000;
/** Number of output lines that an error message quotes. */
const LAST_LINES = 20;

/** Exit of a process. One of the two members is set; both are null if the process could not be run. */
export interface Exit {
  readonly code: number | null;
  readonly signal: string | null;
}

export interface NodeProcess {
  readonly pid: number;
  /** Text that the first capture group of `ready` matched. */
  readonly match: string;
  /** Resolves when the process has ended, for any reason. Never rejects. */
  readonly exited: Promise<Exit>;
  runs(): boolean;
  /** Sends SIGTERM, and SIGKILL after a timeout. Resolves when the process has ended. */
  stop(): Promise<void>;
}

/**
 * Runs a node that cannot outlive this process, and resolves when the node prints a line that matches `ready`. Reads
 * its output until it exits, because a full pipe would block the node. Throws Error with the node's last lines if the
 * node exits earlier or `START_TIMEOUT_MS` passes.
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
      // 'close' is emitted after the last output, and the output has the cause of the failure.
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
