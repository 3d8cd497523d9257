import type { Ethereum } from '../ethereum/ethereum.ts';
import type { OpenedParts } from '../roles.ts';

/**
 * Returns whether this server becomes unready while its index lags. A gateway that does not write the index stays
 * ready as long as its nodes are healthy: all gateways read that index, so it lags for all of them.
 */
export const lagAffectsReadiness = (
  opened: OpenedParts,
  ethereum: Pick<Ethereum, 'networks'> | undefined,
): boolean =>
  opened.has('indexing') || [...(ethereum?.networks.values() ?? [])].some(({ pool }) => !pool.isAnyHealthy);
