import type { Log } from '../../platform/logging/index.ts';
import type { AccessLists, AttackDetector } from '../detector/index.ts';
import { followNewest } from './followNewest.ts';

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

/** Gives the detector the lists, as `followNewest` does. */
export function followAccessLists({
  lists,
  detector,
  log,
  onLists,
}: FollowAccessListsDependencies): Promise<() => void> {
  return followNewest({
    read: () => lists.read(),
    onChange: (listener) => lists.onChange(listener),
    apply(read) {
      detector.setAccessLists(read);
      onLists();
    },
    failed: (error) => log.warn({ error }, 'the access lists cannot be read: the last ones stay in force'),
  });
}
