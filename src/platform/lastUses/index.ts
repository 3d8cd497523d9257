/** Time of the last use of tokens and keys: collected in memory and written periodically to any store. */
export { LastUsedTracker } from './lastUsedTracker.ts';
