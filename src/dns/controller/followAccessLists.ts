import type { Log } from '../../platform/logging/index.ts';
import type { AccessLists, AttackDetector } from '../detector/index.ts';

/** Where the allow and deny lists of the guard's account come from. `onChange` returns how to end it. */
export interface AccessListSource {
  read(): Promise<AccessLists>;
  onChange(listener: () => void): () => void;
}

export interface FollowAccessListsDependencies {
  readonly lists: AccessListSource;
  readonly detector: Pick<AttackDetector, 'setAccessLists'>;
  readonly log: Log;
  /** Hears when the detector has other lists. */
  readonly onLists: () => void;
}

const RETRY_MS = 1000;

/**
 * Gives the detector the lists, now and after each change. Rejects when they cannot be read the first time; later the last
 * ones stay in force until they can. Returns how to end it.
 */
export async function followAccessLists({
  lists,
  detector,
  log,
  onLists,
}: FollowAccessListsDependencies): Promise<() => void> {
  let wanted = 0;
  let retry: NodeJS.Timeout | undefined;
  const load = async (): Promise<void> => {
    const turn = ++wanted;
    const read = await lists.read();
    // What was asked for last is the newest, whatever comes last.
    if (turn !== wanted) return;
    detector.setAccessLists(read);
    onLists();
  };
  const reload = (): void => {
    clearTimeout(retry);
    load().catch((error: unknown) => {
      log.warn({ error: String(error) }, 'the access lists cannot be read: the last ones stay in force');
      retry = setTimeout(reload, RETRY_MS);
      retry.unref();
    });
  };
  const stop = lists.onChange(reload);
  try {
    await load();
  } catch (error) {
    stop();
    throw error;
  }
  return () => {
    clearTimeout(retry);
    stop();
  };
}
