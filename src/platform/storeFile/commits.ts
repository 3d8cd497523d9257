import type { RootDatabase } from 'lmdb';

/**
 * With event-turn batching, lmdb leaves the promise of a batch unhandled, so that an error such as a full disk would
 * end the process.
 */
export const WITHOUT_EVENT_TURN_BATCHING = { eventTurnBatching: false } as const;

/**
 * Returns the reason of lmdb's error "Commit failed"; undefined for other errors. lmdb puts the reason in a second
 * promise, whose rejection would end the process if it stayed unhandled.
 */
export async function reasonOf(error: unknown): Promise<Error | undefined> {
  if (!(error instanceof Error && 'commitError' in error)) return undefined;
  return Promise.resolve(error.commitError).then(
    () => error,
    (reason: unknown) => (reason instanceof Error ? reason : error),
  );
}

/**
 * Opens several databases in one commit. Otherwise each new database causes its own commit and disk flush. Throws the
 * error of `open`, which lmdb may replace with its own.
 */
export function inOneCommit<T>(root: RootDatabase, open: () => T): T {
  let failure: unknown;
  try {
    return root.transactionSync(() => {
      try {
        return open();
      } catch (error) {
        failure = error;
        throw error;
      }
    });
  } catch (error) {
    throw failure ?? error;
  }
}
