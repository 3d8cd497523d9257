import type { ChangeFeed } from './changeFeed.ts';
import type { CommitQueue } from './commitQueue.ts';
import type { Connections } from './connection/connections.ts';

/** Objects shared by the stores of one database. */
export interface StoreParts {
  readonly connections: Connections;
  readonly commits: CommitQueue;
  readonly feed: ChangeFeed;
}
