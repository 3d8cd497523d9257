/**
 * The Ethereum gateway: a fixed table of methods behind `POST /v1/{network}`, answered from the index of traces or by the
 * nodes behind. What is not in the table is refused with HTTP status 403.
 */
export { AnswerCache } from './cache/answerCache.ts';
export type { Anchor, AnswerStore } from './cache/answerStore.ts';
export { Gateway, type GatewayOptions } from './gateway.ts';
export { hashOfSecret, newSecret } from './keys/authenticate.ts';
export type { ApiKey, KeyStore } from './keys/keyStore.ts';
export type { CallContext, Method } from './method.ts';
export { checkLogs } from './methods/checkLogs.ts';
export { isTag } from './methods/kinds.ts';
export type { LogFilter } from './methods/logFilter.ts';
export { type MethodServices, methodOf } from './methods/methodOf.ts';
export { methodsTable } from './methods/methodsTable.ts';
export { RELAYED_ROWS } from './methods/relayedRows.ts';
export type { MethodRow, RelayedRow, ResultShape } from './methods/row.ts';
export { METHODS, SERVED_METHODS } from './methods/table.ts';
export { GatewayMetrics, type NodeGauges } from './metrics.ts';
export type { Network } from './relay/network.ts';
export { startNetwork } from './relay/startNetwork.ts';
