/** A trace store that others share, with an index of its own for the newest blocks in front of it. */
export type { RecentIndex } from './recentBlocks.ts';
export { type NewestBlocks, TieredTraceReader } from './tieredTraceReader.ts';
export { type TieredDependencies, TieredTraceStore } from './tieredTraceStore.ts';
