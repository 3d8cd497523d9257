/** Collects the time of the last use of tokens and keys in memory, and writes it to a store periodically. */
export { LastUsedTracker } from './lastUsedTracker.ts';
