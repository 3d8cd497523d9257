import type { Logger } from 'pino';
import { EXIT_CODES } from './exitCodes.ts';

/** Resolves at the first SIGINT or SIGTERM. A second signal ends the process at once. */
export function untilSignal(logger: Logger): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let asked = false;
    const stop = (signal: NodeJS.Signals): void => {
      if (asked) process.exit(EXIT_CODES.interrupted);
      asked = true;
      logger.info(
        { signal },
        'stopping: running requests are finished first; press Ctrl-C again to stop at once',
      );
      resolve(signal);
    };
    process.on('SIGINT', stop);
    process.on('SIGTERM', stop);
  });
}

/**
 * Returns the result of one start step, or undefined if the operator stops the program first. An unfinished step ends
 * with the process, as in a crash, which all stores survive.
 */
export async function unlessStopped<T>(stopped: Promise<unknown>, part: Promise<T>): Promise<T | undefined> {
  const outcome = await Promise.race([part, stopped.then(() => STOPPED)]);
  if (outcome !== STOPPED) return outcome as T; // not STOPPED
  part.catch(() => undefined);
  return undefined;
}

const STOPPED = Symbol('stopped');
