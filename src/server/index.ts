export { DataDirInUseError } from './dataDirLock.ts';
export { type Server, type ServerOptions, startServer } from './startServer.ts';
