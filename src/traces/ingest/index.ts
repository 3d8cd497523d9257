export { FinalityError } from './fork.ts';
export { BlockUnavailableError, Indexer, type IndexerObserver, type IndexerStatus } from './indexer.ts';
export * from './source.ts';
