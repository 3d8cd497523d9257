import { SourceSet, type TurnedAway } from '../ethereum/ingest/index.ts';
import { NodeClient, NodeSource } from '../ethereum/nodes/index.ts';

/** Several nodes as one source of blocks, for a command that runs by itself. */
export interface OpenSource {
  readonly source: SourceSet;
  close(): Promise<void>;
}

export function openSource(urls: readonly string[], turnedAway: TurnedAway): OpenSource {
  const clients = urls.map((url) => new NodeClient(url));
  const members = clients.map((client) => ({ name: client.name, source: new NodeSource(client) }));
  return {
    source: new SourceSet(members, turnedAway),
    async close() {
      await Promise.all(clients.map((client) => client.close()));
    },
  };
}
