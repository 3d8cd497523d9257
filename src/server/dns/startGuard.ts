import type { AttackEvent } from '../../dns/attacks/index.ts';
import type { FleetStore } from '../../dns/fleet/index.ts';
import type { RulesStorage } from '../../rules/index.ts';
import type { ServerContext } from '../base.ts';
import { type Dns, startDns } from './dns.ts';

export interface StartGuardDependencies {
  readonly storage: RulesStorage | undefined;
  readonly fleet: FleetStore | undefined;
  readonly onAttack: (event: AttackEvent) => void;
}

/**
 * Starts the DNS guard if this server has the role `guard` and an account is configured. Does not wait for the
 * guard's threads, so that other parts can start meanwhile.
 */
export function startGuard(
  { config, logger, registry, opened, freeSpace, scheduler, teardown }: ServerContext,
  { storage, fleet, onAttack }: StartGuardDependencies,
): Promise<Dns> | undefined {
  const { account } = config.dns;
  if (storage === undefined || account === undefined || !opened.has('guard')) return undefined;
  const starting = startDns(
    { config, account },
    { storage, fleet, logger, registry, freeSpace, scheduler, onAttack },
  );
  const stopping = starting.then(
    (started) => () => started.stop(),
    () => undefined, // the caller receives the failure
  );
  teardown.add(async () => (await stopping)?.());
  return starting;
}
