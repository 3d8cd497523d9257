/**
 * Ethereum gateway: serves a fixed table of methods at `POST /v1/{network}`, either from the trace index or from
 * upstream nodes. Methods outside the table are rejected with HTTP status 403.
 */

export type { StoreState } from './cache/answerCache.ts';
export type { Anchor, AnswerStore } from './cache/answerStore.ts';
export { type CallLimit, type CallLimits, DEFAULT_LIMITS, MAX_LIMITS } from './callLimits.ts';
export { Gateway, type GatewayDependencies, type GatewayOptions } from './gateway.ts';
export { FilterMemory } from './http/limits/filterMemory.ts';
export { type Lease, LeasedRates, leaseFrom, type WantedLease } from './http/limits/leasedRates.ts';
export { RateLimits, type Rates } from './http/limits/rateLimits.ts';
export { unparsedError } from './http/unparsedError.ts';
export { AccessWatch } from './keys/accessWatch.ts';
export {
  ApiKeyPublisher,
  ApiKeyReplica,
  type KeyChanges,
} from './keys/apiKeyReplica.ts';
export { hashOfSecret, newSecret } from './keys/authenticate.ts';
export {
  type ApiKey,
  isGood,
  type KeyStore,
  KeysUnavailableError,
  type Revocation,
  type StoredKey,
  TooManyKeys,
} from './keys/keyStore.ts';
export { type KeyView, keySettingsView, keyView, limitsOfView } from './keys/keyView.ts';
export { newKeyId } from './keys/newKeyId.ts';
export { type KeyRecords, SharedKeys } from './keys/sharedKeys.ts';
export type { Handler, Method } from './method.ts';
export { checkLogs } from './methods/checkLogs.ts';
export { methodOf } from './methods/methodOf.ts';
export { methodsTable } from './methods/methodsTable.ts';
export { openRpcDocument } from './methods/openRpc/document.ts';
export type { FilterRow, MethodRow } from './methods/row.ts';
export { debugRows } from './methods/rows/debugRows.ts';
export { extraMethodError, extraRow } from './methods/rows/extraRows.ts';
export { RELAYED_ROWS } from './methods/rows/relayedRows.ts';
export { METHODS, SERVED_METHODS } from './methods/table.ts';
export { GatewayMetrics, type NodeGauges } from './metrics.ts';
export { Filters } from './push/filters/filters.ts';
export { Live } from './push/live/live.ts';
export { nodeRequester } from './push/live/liveBlocks.ts';
export { liveLog, wantedLogs } from './push/live/liveLogs.ts';
export { Subscribers } from './push/live/subscribers.ts';
export { TraceFeed } from './push/live/traceFeed.ts';
export { SUBSCRIBE } from './push/webSocket/subscriptions.ts';
export type { AcceptedTransaction } from './relay/sending/acceptedTransactions.ts';
export { startNetwork } from './relay/startNetwork.ts';
export { blockByTimeMethod } from './traceIndex/explorer/blockByTime.ts';
export {
  EXPLORER_PERMISSION,
  explorerMethod,
} from './traceIndex/explorer/explorerMethod.ts';
export { NewBlocks } from './traceIndex/newBlocks.ts';
export type { IndexFiller } from './traceIndex/traces/indexServices.ts';
