/** Development chain of `floodgate dev`: an anvil child process with demo transactions. Not for production. */
export { NoAnvilError } from './anvilBinary.ts';
export { DEMO_BLOCKS, mineDemoBlock } from './demoTraffic.ts';
export { type DevelopmentChain, startDevelopmentChain } from './developmentChain.ts';
export { type GuardedChild, type GuardedOptions, spawnGuarded } from './guardedChild.ts';
export { type Call, connect, type Node, NodeError } from './node.ts';
export { type Exit, type NodeProcess, startProcess } from './nodeProcess.ts';
export { type Anvil, type AnvilOptions, KEPT_STATES, startAnvil } from './startAnvil.ts';
