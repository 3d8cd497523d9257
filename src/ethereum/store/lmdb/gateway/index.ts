/** The cache of final answers and the API keys on LMDB. */
export { type GatewayStorage, openGatewayStorage } from './openGatewayStorage.ts';
