import type { ChangeFeed } from './changeFeed.ts';
import type { Connections } from './connections.ts';
import type { GroupCommit } from './groupCommit.ts';

/** What the stores over one database share. */
export interface StoreParts {
  readonly connections: Connections;
  readonly commits: GroupCommit;
  readonly feed: ChangeFeed;
}
