/** A store's file: whether it is still the one that was made here, whether its format is known, and whether its records are whole. */
export { checksummedJson } from './checksummedJson.ts';
export { inOneCommit, NO_TURN_BATCHES } from './committed.ts';
export { copyStore, readWholeStore } from './rawStore.ts';
export { StoreCopiedError, StoreFile, StoreGoneError } from './storeFile.ts';
export { checkStoreFormat, PendingUpgrade, type UpgradeProgress, type UpgradeStep } from './storeFormat.ts';
export { DATA_FILE, sealStoreFile, storeFolders } from './storeSeal.ts';
