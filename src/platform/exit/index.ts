/**
 * Ends the process while no LMDB commit runs. The callbacks of lmdb's transactions need the event loop, so that
 * `process.exit` during a commit would wait for that commit without end.
 */

/** If a commit delays the exit for longer, for example because the disk does not respond, the process is killed. */
const MAX_COMMIT_MS = 2_000;

let running = 0;
const whenNone: (() => void)[] = [];

/** Runs an LMDB commit. `exitBetweenCommits` waits until it is complete. */
export async function countCommit<T>(commit: () => PromiseLike<T>): Promise<T> {
  running++;
  try {
    return await commit();
  } finally {
    if (--running === 0) for (const resolve of whenNone.splice(0)) resolve();
  }
}

/** Ends the process, by default with `process.exitCode`, after running commits; with SIGKILL after MAX_COMMIT_MS. */
export async function exitBetweenCommits(code?: number): Promise<never> {
  setTimeout(() => process.kill(process.pid, 'SIGKILL'), MAX_COMMIT_MS);
  while (running > 0) await new Promise<void>((resolve) => whenNone.push(resolve));
  process.exit(code ?? process.exitCode);
}
