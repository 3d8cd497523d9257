/** Trace store that combines a shared index with a local index of the newest blocks. */

export type { RecentIndex } from './recentBlocks.ts';
export { RecentBlocksReader } from './recentBlocksReader.ts';
export { TieredTraceReader } from './tieredTraceReader.ts';
export { type TieredDependencies, TieredTraceStore } from './tieredTraceStore.ts';
