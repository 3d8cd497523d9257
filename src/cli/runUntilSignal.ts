import type { Logger } from 'pino';
import { inBackground } from '../platform/background/index.ts';
import { exitBetweenCommits } from '../platform/exit/index.ts';
import { EXIT_CODES } from './exitCodes.ts';

/**
 * Resolves at the first SIGINT or SIGTERM. A later SIGINT ends the process immediately. A later SIGTERM is ignored,
 * because `npm start` sends one after the SIGTERM from the parent of npm.
 */
export function untilSignal(logger: Logger): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let asked = false;
    const stop = (signal: NodeJS.Signals): void => {
      if (asked) {
        if (signal === 'SIGINT') inBackground('stop', () => exitBetweenCommits(EXIT_CODES.interrupted));
        return;
      }
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
