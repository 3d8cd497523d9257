/** Addresses and networks, and who counts as one client. */
export { type ClientAddress, clientAddressBehind } from './clientAddress.ts';
export { clientKey } from './clientKey.ts';
export { BadNetworkError, type Network, networkText, parseNetwork, within } from './ipNetworks.ts';
export type { ServerAddress } from './serverAddress.ts';
