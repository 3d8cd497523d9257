/** Cache of final results, and API keys, in LMDB. */
export { openGatewayStorage } from './openGatewayStorage.ts';
