/** Client addresses, networks, and the keys that identify clients. */
export {
  addressOfSocket,
  type ClientAddress,
  clientAddressReader,
  httpsReader,
  proxyMatcher,
} from './clientAddress.ts';
export { clientKey, widerNetworks } from './clientKey.ts';
export {
  BadNetworkError,
  groupsOf,
  type Network,
  networkMatcher,
  networkText,
  parseNetwork,
  plainAddress,
} from './ipNetworks.ts';
export type { ServerAddress } from './serverAddress.ts';
