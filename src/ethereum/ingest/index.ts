/** Ingest: follows the nodes' chain and fills ranges of older blocks, so that the index holds one complete chain. */

export { AdaptiveConcurrency } from './adaptiveConcurrency.ts';
export { ASSUMED_FINAL_DEPTH } from './assumedFinalDepth.ts';
export type { HeadChange } from './chainFollower.ts';
export { fetchBlocks, indexedBlockOf, range } from './fetchBlocks.ts';
export { fillRange } from './fillRange.ts';
export { FinalityError } from './fork.ts';
export { type BeginWrite, Indexer, type IndexerStatus } from './indexer.ts';
export type { IndexerObserver } from './indexerObserver.ts';
export { type MissingBlocks, missingBlocks } from './missingBlocks.ts';
export { NoSpaceError } from './noSpaceError.ts';
export { type BlockMeter, BlockUnavailableError } from './pastBlocks.ts';
export {
  type BeginBlock,
  type ChainSource,
  PooledSource,
} from './pooledSource.ts';
export { retryBlock } from './retryBlock.ts';
export { rewind } from './rewind.ts';
export { SharedFiller, type SharedIndex } from './sharedFiller.ts';
