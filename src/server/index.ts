export { DataDirInUseError, type DataDirLock, DataDirUnusableError, lockDataDir } from './dataDirLock.ts';
export { ListenError } from './listenError.ts';
export { setAsideForeignIndex } from './setAsideForeignIndex.ts';
export { type Server, type ServerOptions, startServer } from './startServer.ts';
