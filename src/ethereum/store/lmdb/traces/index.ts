/** The trace store on LMDB. */

export type { UpgradeObserver } from './carryOutUpgrade.ts';
export { NoIndexError } from './environment.ts';
export {
  type LmdbTraceReader,
  openTraceReader,
  openTraceStore,
  type TraceStoreOptions,
} from './traceStore.ts';
export { verifyTraces } from './verifyTraces.ts';
