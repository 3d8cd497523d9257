import type { Log } from '../../platform/logging/index.ts';
import type { AccessLists, AttackDetector } from '../detector/index.ts';
import { watchSource } from './watchSource.ts';

/** Source of the account's access lists. `onChange` returns a function that unsubscribes. */
export interface AccessListSource {
  read(): Promise<AccessLists>;
  onChange(listener: () => void): () => void;
}

export interface WatchAccessListsDependencies {
  readonly lists: AccessListSource;
  readonly detector: Pick<AttackDetector, 'setAccessLists'>;
  readonly log: Log;
  readonly onLists: () => void;
}

/** Passes the access lists to the detector, now and after each change. */
export function watchAccessLists({
  lists,
  detector,
  log,
  onLists,
}: WatchAccessListsDependencies): Promise<() => void> {
  return watchSource({
    read: () => lists.read(),
    onChange: (listener) => lists.onChange(listener),
    apply(read) {
      detector.setAccessLists(read);
      onLists();
    },
    failed: (error) => log.warn({ error }, 'cannot read the access lists; keeping the last ones'),
  });
}
