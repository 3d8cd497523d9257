import { readFileSync } from 'node:fs';
import type { Log } from '../../platform/logging/index.ts';

/** Minimum limit of open files. Stores, listeners, threads and Node.js use sixty files, connections the rest. */
const NEEDED = 128;
/** The limit of open files on most systems, enough for some hundreds of connections. A lower limit is logged. */
const USUAL = 1024;

/** Thrown if the limit of open files is too low. The message states the limit and the remedy. */
class TooFewFilesError extends Error {
  override readonly name = 'TooFewFilesError';
}

/** Throws TooFewFilesError if the limit of open files is below `NEEDED`. Logs a warning if it is below `USUAL`. */
export function checkOpenFiles(log: Log, limit = openFilesLimit()): void {
  if (limit === undefined || limit >= USUAL) return;
  const advice = `raise the limit (ulimit -n, LimitNOFILE= of systemd) to ${USUAL} or more`;
  if (limit < NEEDED)
    throw new TooFewFilesError(
      `the limit of open files is ${limit}, at least ${NEEDED} are needed: ${advice}`,
    );
  log.warn({ limit, advice }, 'low limit of open files');
}

function openFilesLimit(): number | undefined {
  try {
    const limit = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
    return limit === undefined ? undefined : Number(limit);
  } catch {
    return undefined;
  }
}
