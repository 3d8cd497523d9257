/** The composition root: the only room that knows every other. It wires them from the configuration and takes them down. */
export { DataDirInUseError, type DataDirLock, DataDirUnusableError, lockDataDir } from './dataDirLock.ts';
export { examineNode, type NodeReport } from './examineNode.ts';
export { ExportError, exportTraces } from './exportTraces.ts';
export { type FillProgress, fillIndex, IndexingError } from './fillIndex.ts';
export { ListenError } from './listenError.ts';
export { setAsideForeignIndex } from './setAsideForeignIndex.ts';
export { type Server, type ServerOptions, startServer } from './startServer.ts';
