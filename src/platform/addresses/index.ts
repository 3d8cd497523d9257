/** Addresses and networks, and who counts as one client. */
export { type ClientAddress, clientAddressBehind } from './clientAddress.ts';
export { clientKey } from './clientKey.ts';
export {
  BadNetworkError,
  groupsOf,
  type Network,
  networkText,
  parseNetwork,
  plainAddress,
  within,
} from './ipNetworks.ts';
export type { ServerAddress } from './serverAddress.ts';
