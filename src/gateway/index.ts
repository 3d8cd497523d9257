/**
 * The Ethereum gateway: a fixed table of methods behind `POST /v1/{network}`, answered from the index of traces or by the
 * nodes behind. What is not in the table is refused with HTTP status 403.
 */
export { type GatewayOptions, gateway } from './gateway.ts';
export type { Method } from './method.ts';
export { GatewayMetrics } from './metrics.ts';
export { relayed } from './relay.ts';
export { traceFilter } from './traceFilter/traceFilter.ts';
export { NodeClient } from './upstream/nodeClient.ts';
export { NodeSource } from './upstream/nodeSource.ts';
