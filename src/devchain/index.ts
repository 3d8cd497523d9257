/**
 * The development chain: a real Ethereum node (anvil) run as a child, and seeded traffic whose traces have every
 * shape. `floodgate dev` runs on it, and so do the tests and the benchmarks. Nothing here serves users' requests.
 */
export { ACCOUNTS } from './accounts.ts';
export { NoAnvilError } from './anvilBinary.ts';
export { type DevelopmentChain, startDevelopmentChain } from './developmentChain.ts';
export { type GuardedChild, type GuardedOptions, spawnGuarded } from './guardedChild.ts';
export { type Call, connect, type Node, NodeError } from './node.ts';
export { type Exit, type NodeProcess, startProcess } from './nodeProcess.ts';
export { reorganise } from './reorganise.ts';
export { type Anvil, type AnvilOptions, startAnvil } from './startAnvil.ts';
export {
  createTraffic,
  SCRIPT_BLOCKS,
  type Traffic,
  type TrafficBlock,
  type TrafficOptions,
} from './traffic.ts';
export { buildTransferChain, type TransferChain, type TransferChainOptions } from './transferChain.ts';
