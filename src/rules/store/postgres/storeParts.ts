import type { ChangeFeed } from './changeFeed.ts';
import type { CommitQueue } from './commitQueue.ts';
import type { Connections } from './connection/connections.ts';

/** Objects that all stores in one database share. */
export interface StoreParts {
  readonly connections: Connections;
  readonly commits: CommitQueue;
  readonly feed: ChangeFeed;
}
