/** Composition root: the only module that imports all others. Wires them from the configuration and closes them. */

export { webhooksOf } from './alerts/webhooks.ts';
export { checkConfig } from './checkConfig.ts';
export { copyStore } from './data/copyStore.ts';
export { backupData, restoreData, verifyData } from './data/dataCopies.ts';
export { type DataDirLock, lockDataDir } from './data/dataDirLock.ts';
export { isTraceStore, verifyStore } from './data/verifyStore.ts';
export { exportProfile, importProfile } from './dns/profileFiles.ts';
export type { TestFlood } from './dns/testFlood.ts';
export { finalityOf } from './ethereum/finalityOf.ts';
export { examineNode } from './jobs/examineNode.ts';
export { type ExportedHeader, exportHeaders, exportTraces } from './jobs/exportTraces.ts';
export { type FillIndexOptions, type FillProgress, fillIndex } from './jobs/fillIndex.ts';
export { fillSharedIndex, rewindSharedIndex, rewriteSharedBlocks } from './jobs/fillSharedIndex.ts';
export { importFiles } from './jobs/importFiles.ts';
export { indexAgain } from './jobs/indexAgain.ts';
export { mergeIndex } from './jobs/mergeIndex.ts';
export { retryUnavailable } from './jobs/retryUnavailable.ts';
export { rewindIndex } from './jobs/rewindIndex.ts';
export { setAsideForeignIndex } from './jobs/setAsideForeignIndex.ts';
export { migrateSharedIndex, verifySharedIndex } from './jobs/sharedTables.ts';
export { namedBlocks } from './jobs/unavailableText.ts';
export { type Server, startServer } from './startServer.ts';
export type { Tuning } from './tuning.ts';
export { runWorker } from './workers/runWorker.ts';
