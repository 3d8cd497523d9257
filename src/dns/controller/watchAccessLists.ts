import type { Log } from '../../platform/logging/index.ts';
import type { AccessLists, AttackDetector } from '../detector/index.ts';
import { watchSource } from './watchSource.ts';

/** Source of the access lists of an account. `onChange` returns a function that removes the listener. */
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

/** Reads the access lists now and after each change, and passes them to the attack detector. */
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
