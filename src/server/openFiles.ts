import { readFileSync } from 'node:fs';
import type { Log } from '../platform/logging/index.ts';

/** Stores, listeners, threads and Node.js itself take some sixty; the rest is for clients and nodes. */
const NEEDED = 128;
/** What most systems allow, and enough for some hundreds of connections. */
const USUAL = 1024;

/** Too few files may be open at once. The message says how many, and what to do. */
class TooFewFilesError extends Error {
  override readonly name = 'TooFewFilesError';
}

/** Throws where the system lets this process open too few files and connections to run at all; warns where they are few. */
export function checkOpenFiles(log: Log, limit = openFilesLimit()): void {
  if (limit === undefined || limit >= USUAL) return;
  const advice = `raise the limit (ulimit -n, LimitNOFILE= of systemd) to ${USUAL} or more`;
  if (limit < NEEDED)
    throw new TooFewFilesError(
      `this process may have ${limit} files and connections open, and needs ${NEEDED} at least: ${advice}`,
    );
  log.warn({ limit, advice }, 'few files and connections may be open at once');
}

/** The limit as Linux tells it; undefined elsewhere. */
function openFilesLimit(): number | undefined {
  try {
    const limit = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
    return limit === undefined ? undefined : Number(limit);
  } catch {
    return undefined;
  }
}
