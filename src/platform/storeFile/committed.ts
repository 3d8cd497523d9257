import type { RootDatabase } from 'lmdb';

/** Of the batch that lmdb makes of a turn of the event loop it leaves the promise unhandled: a full disk would end the process. */
export const NO_TURN_BATCHES = { eventTurnBatching: false } as const;

/**
 * Waits for a commit of lmdb's. lmdb says only "Commit failed" and keeps the reason in a promise of its own, which would end
 * the process if it was left unhandled: rejects with that reason.
 */
export async function committed<T>(commit: PromiseLike<T>): Promise<T> {
  try {
    return await commit;
  } catch (error) {
    throw await reasonOf(error);
  }
}

async function reasonOf(error: unknown): Promise<unknown> {
  if (!(error instanceof Error && 'commitError' in error)) return error;
  return Promise.resolve(error.commitError).then(
    () => error,
    (reason: unknown) => reason,
  );
}

/** Opens databases in one commit: each that has to be made is one of its own otherwise, and waits for the disk. */
export const inOneCommit = <T>(root: RootDatabase, open: () => T): T => root.transactionSync(open);
