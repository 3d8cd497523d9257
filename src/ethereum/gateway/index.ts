/**
 * The Ethereum gateway: a fixed table of methods behind `POST /v1/{network}`, answered from the index of traces or by the
 * nodes behind. What is not in the table is refused with HTTP status 403.
 */

export type { StoreState } from './cache/answerCache.ts';
export type { Anchor, AnswerStore } from './cache/answerStore.ts';
export type { Hold } from './callsHandler.ts';
export { EXPLORER_STANDS_FOR, explorerMethod } from './explorer/explorerMethod.ts';
export { Filters } from './filters/filters.ts';
export type { PolledFilters } from './filters/polledFilters.ts';
export { Gateway } from './gateway.ts';
export { hashOfSecret, newSecret } from './keys/authenticate.ts';
export {
  type ApiKey,
  isGood,
  type KeyStore,
  KeysUnknown,
  type Revocation,
  type StoredKey,
  TooManyKeys,
} from './keys/keyStore.ts';
export { newKeyId } from './keys/newKeyId.ts';
export { type KeyRecords, SharedKeys } from './keys/sharedKeys.ts';
export { RateLimits, type Rates } from './limits/rateLimits.ts';
export { Live } from './live/live.ts';
export { TraceFeed } from './live/traceFeed.ts';
export type { CallContext, Method } from './method.ts';
export { checkLogs } from './methods/checkLogs.ts';

export { extraRow, whyNotExtra } from './methods/extraRows.ts';
export { methodOf } from './methods/methodOf.ts';
export { methodsTable } from './methods/methodsTable.ts';
export { RELAYED_ROWS } from './methods/relayedRows.ts';
export type { MethodRow } from './methods/row.ts';
export { METHODS, SERVED_METHODS } from './methods/table.ts';
export { GatewayMetrics, type NodeGauges } from './metrics.ts';
export { openRpcDocument } from './openRpc/document.ts';

export { startNetwork } from './relay/startNetwork.ts';
export type { IndexFiller } from './traces/indexServices.ts';
export { unparsedError } from './unparsedError.ts';
export { SUBSCRIBE } from './webSocket/subscriptions.ts';
