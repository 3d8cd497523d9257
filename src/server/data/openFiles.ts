import { readFileSync } from 'node:fs';

/** Minimum limit of open files. Stores, listeners, threads and Node.js use sixty files, connections the rest. */
const NEEDED = 128;
/** Recommended limit of open files, enough for some hundreds of connections. */
const USUAL = 1024;

/** Thrown if the limit of open files is too low. The message states the limit and the remedy. */
class TooFewFilesError extends Error {
  override readonly name = 'TooFewFilesError';
}

/** Throws TooFewFilesError if the limit of open files is below `NEEDED`. */
export function checkOpenFiles(limit = openFilesLimit()): void {
  if (limit === undefined || limit >= NEEDED) return;
  throw new TooFewFilesError(
    `the limit of open files is ${limit}, at least ${NEEDED} are needed: ${adviceFor(USUAL)}`,
  );
}

export const adviceFor = (limit: number): string =>
  `raise the limit (ulimit -n, LimitNOFILE= of systemd) to ${limit} or more`;

/** Returns the limit of open files of this process; undefined if the system does not show it. */
export function openFilesLimit(): number | undefined {
  try {
    const limit = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
    return limit === undefined ? undefined : Number(limit);
  } catch {
    return undefined;
  }
}
