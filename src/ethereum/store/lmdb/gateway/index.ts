/** Storage of the gateway in LMDB: the cache of final results, and the API keys. */
export { openGatewayStorage } from './openGatewayStorage.ts';
