import type { Ethereum } from './ethereum.ts';
import type { Opened } from './roles.ts';

/**
 * Whether an index that is behind takes a server out of service: not where another process writes it and the nodes of this one answer.
 * All gateways are behind then, and each goes on with what there is.
 */
export const isOutOfService = (opened: Opened, ethereum: Pick<Ethereum, 'pools'> | undefined): boolean =>
  opened.has('indexing') ||
  [...(ethereum?.pools.values() ?? [])].some(
    ({ nodes }) => !nodes.some(({ health }) => health === 'healthy'),
  );
