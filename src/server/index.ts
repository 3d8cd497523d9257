/** The composition root: the only room that knows every other. It wires them from the configuration and takes them down. */

export { webhooksOf } from './alerts/webhooks.ts';
export { backupData, restoreData, verifyData } from './dataCopies.ts';
export { type DataDirLock, lockDataDir } from './dataDirLock.ts';
export { examineNode } from './examineNode.ts';
export { exportTraces } from './exportTraces.ts';
export { type FillProgress, fillIndex } from './fillIndex.ts';
export { fillSharedIndex } from './fillSharedIndex.ts';
export { exportProfile, importProfile } from './profileFiles.ts';
export { rewindIndex } from './rewindIndex.ts';
export { setAsideForeignIndex } from './setAsideForeignIndex.ts';
export { type Server, startServer } from './startServer.ts';
export { copyStore } from './storeCopy/copyStore.ts';
export { verifyStore } from './verifyStore.ts';
export { runWorker } from './workers/runWorker.ts';
