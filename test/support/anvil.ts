/** A node for tests and benchmarks, and seeded traffic whose traces have every shape. */
export * from '../../src/devchain/index.ts';
export { ACCOUNTS } from './traffic/accounts.ts';
export { reorganise } from './traffic/reorganise.ts';
export { createTraffic, SCRIPT_BLOCKS, type Traffic, type TrafficBlock } from './traffic/traffic.ts';
export { buildTransferChain } from './traffic/transferChain.ts';
