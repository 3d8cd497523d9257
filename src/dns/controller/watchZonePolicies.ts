import type { Log } from '../../platform/logging/index.ts';
import type { ZonePolicy } from '../../rules/index.ts';
import type { AttackDetector } from '../detector/index.ts';
import { watchSource } from './watchSource.ts';

/** Source of the zone policies of an account. `onChange` returns a function that removes the listener. */
export interface ZonePolicySource {
  list(): Promise<readonly ZonePolicy[]> | readonly ZonePolicy[];
  onChange(listener: () => void): () => void;
}

export interface WatchZonePoliciesDependencies {
  readonly zonePolicies: ZonePolicySource;
  readonly detector: Pick<AttackDetector, 'setZonePolicies' | 'zonesWithPolicy'>;
  readonly log: Log;
  readonly onPolicies: () => void;
}

/** Reads the zone policies now and after each change, and passes them to the attack detector. */
export function watchZonePolicies({
  zonePolicies,
  detector,
  log,
  onPolicies,
}: WatchZonePoliciesDependencies): Promise<() => void> {
  return watchSource({
    read: () => zonePolicies.list(),
    onChange: (listener) => zonePolicies.onChange(listener),
    apply(policies) {
      detector.setZonePolicies(policies, Date.now());
      const ignored = policies.length - detector.zonesWithPolicy().length;
      if (ignored > 0)
        log.warn(
          { ignored },
          'the guard knows too many zones: policies of further zones are ignored; restart it',
        );
      onPolicies();
    },
    failed: (error) => log.warn({ error }, 'cannot read the zone policies; keeping the last ones'),
  });
}
