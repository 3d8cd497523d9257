/** Ingest: follows the nodes' chain and fills ranges of older blocks, so that the index holds one complete chain. */

export { AdaptiveConcurrency } from './adaptiveConcurrency.ts';
export { ASSUMED_FINAL_DEPTH } from './assumedFinalDepth.ts';
export type { HeadChange } from './chainFollower.ts';
export { fillRange } from './fillRange.ts';
export { FinalityError } from './fork.ts';
export { type ApplyWith, type BeginWrite, Indexer, type IndexerStatus } from './indexer.ts';
export type { IndexerObserver } from './indexerObserver.ts';
export { missingBlocks } from './missingBlocks.ts';
export { NoSpaceError } from './noSpaceError.ts';
export { type BlockMeter, BlockUnavailableError } from './pastBlocks.ts';
export {
  type BeginBlock,
  type ChainSource,
  type OnFailover,
  PooledSource,
} from './pooledSource.ts';
export { retryBlock } from './retryBlock.ts';
export { rewind } from './rewind.ts';
