/** Starts work that no caller awaits, and reports its errors. An unhandled rejection would end the process. */
import type { Log } from '../logging/index.ts';

export interface BackgroundFailure {
  /** Name of the work, as a noun phrase: `index upgrade`. */
  readonly work: string;
  readonly error: unknown;
}

const listeners = new Set<(failure: BackgroundFailure) => void>();

/** Calls the listener for each background failure in this thread. Returns a function that removes the listener. */
export function onBackgroundFailure(listener: (failure: BackgroundFailure) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Logs background failures in this thread. Returns a function that ends the logging. */
export const logBackgroundFailures = (log: Log): (() => void) =>
  onBackgroundFailure(({ work, error }) => log.error({ work, err: error }, 'background work failed'));

/** Starts work that no caller awaits, and reports its errors to the listeners. */
export function inBackground(work: string, run: () => unknown): void {
  const failed = failureReporter(work);
  try {
    Promise.resolve(run()).catch(failed);
  } catch (error) {
    failed(error);
  }
}

/** Handles rejections of a stored promise: `this.#running = this.#run().catch(failureReporter('index upgrade'))`. */
export const failureReporter =
  (work: string) =>
  (error: unknown): void => {
    for (const listener of listeners) listener({ work, error });
    if (listeners.size === 0)
      process.emitWarning(asError(error), { detail: `background work failed: ${work}` });
  };

/** Marks a promise that callers await later as handled. Otherwise its rejection before that would end the process. */
export function awaitedLater<P extends Promise<unknown> | undefined>(promise: P): P {
  promise?.catch(() => undefined);
  return promise;
}

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));
