/**
 * The Ethereum gateway: a fixed table of methods behind `POST /v1/{network}`, answered from the index of traces or by the
 * nodes behind. What is not in the table is refused with HTTP status 403.
 */
export { AnswerCache } from './cache/answerCache.ts';
export type { Anchor, AnswerStore } from './cache/answerStore.ts';
export { Gateway, type GatewayOptions } from './gateway.ts';
export { hashOfSecret, newSecret } from './keys/authenticate.ts';
export type { ApiKey, KeyStore } from './keys/keyStore.ts';
export { clientAddressBehind } from './limits/clientAddress.ts';
export type { CallContext, Method } from './method.ts';
export { RELAYED_ROWS } from './methods/relayedRows.ts';
export { SERVED_METHODS } from './methods/table.ts';
export { GatewayMetrics, type NodeGauges } from './metrics.ts';
export type { Network } from './relay/network.ts';
export { relayed } from './relay/relayed.ts';
export { startNetwork } from './relay/startNetwork.ts';
export { traceFilter } from './traceFilter/traceFilter.ts';
export { traceBlock } from './traces/traceBlock.ts';
export { traceGet } from './traces/traceGet.ts';
export { traceTransaction } from './traces/traceTransaction.ts';
export { NodeClient } from './upstream/nodeClient.ts';
export { ChainMismatchError } from './upstream/nodePool.ts';
export { NodeSource } from './upstream/nodeSource.ts';
export { probeTraces } from './upstream/probeTraces.ts';
export type { WayFound } from './upstream/traceWay.ts';
