import type { Logger } from 'pino';
import { EXIT_CODES } from './exitCodes.ts';

/** Resolves at the first SIGINT or SIGTERM; a second one ends the process at once. */
export function untilSignal(logger: Logger): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let asked = false;
    const stop = (signal: NodeJS.Signals): void => {
      // The operator does not want to wait.
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
 * What a part of the start gives; undefined where the operator stops it before. What is under way then ends with the
 * process, as at a kill, which every store stands.
 */
export async function unlessStopped<T>(stopped: Promise<unknown>, part: Promise<T>): Promise<T | undefined> {
  const outcome = await Promise.race([part, stopped.then(() => STOPPED)]);
  if (outcome !== STOPPED) return outcome as T; // the only other one
  part.catch(() => undefined);
  return undefined;
}

const STOPPED = Symbol('stopped');
