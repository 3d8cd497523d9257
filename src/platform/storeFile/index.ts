/** Store files: detection of copied files, format check, and checksums of records. */
export { StoreDamagedError } from './checkHeads.ts';
export { checksummedJson } from './checksummedJson.ts';
export { inOneCommit, WITHOUT_EVENT_TURN_BATCHING } from './commits.ts';
export { copyStore, type KeyRanges, readAllRecords } from './rawStore.ts';
export { StoreCopiedError, StoreFile, StoreGoneError } from './storeFile.ts';
export { checkStoreFormat } from './storeFormat.ts';
export { DATA_FILE, identityOf, requireNoLinkedStores, sealStoreFile, storeFolders } from './storeSeal.ts';
