export { DataDirInUseError, DataDirUnusableError } from './dataDirLock.ts';
export { type Server, type ServerOptions, startServer } from './startServer.ts';
