import type { Ethereum } from '../ethereum/ethereum.ts';
import type { OpenedParts } from '../roles.ts';

/**
 * Returns whether an index that lags takes this server out of service. A gateway without indexing stays in service
 * while its nodes are healthy: all gateways share that index and lag equally.
 */
export const lagAffectsReadiness = (
  opened: OpenedParts,
  ethereum: Pick<Ethereum, 'pools'> | undefined,
): boolean =>
  opened.has('indexing') ||
  [...(ethereum?.pools.values() ?? [])].some(
    ({ nodes }) => !nodes.some(({ health }) => health === 'healthy'),
  );
