import { NodeClient, NodeSource, probeTraces } from '../gateway/index.ts';
import { NodeError } from '../traces/index.ts';

/** What a node is and offers, in plain words. */
export interface NodeReport {
  /** Host and port: never the path, the query or the credentials, which may be keys. */
  readonly node: string;
  readonly lines: readonly string[];
  /** Floodgate can index from it. */
  readonly isUsable: boolean;
}

/** Looks at a node as Floodgate would use it. Never rejects because of the node: what is wrong with it is reported. */
export async function examineNode(url: string): Promise<NodeReport> {
  const client = new NodeClient(url);
  const lines: string[] = [];
  let isUsable = false;
  try {
    isUsable = await examine(client, lines);
  } catch (error) {
    if (!(error instanceof NodeError)) throw error;
    lines.push(
      `It cannot be used: ${error.message}. Check the address, and that the node's HTTP JSON-RPC is on.`,
    );
  } finally {
    await client.close();
  }
  return { node: client.name, lines, isUsable };
}

async function examine(client: NodeClient, lines: string[]): Promise<boolean> {
  const source = new NodeSource(client);
  const { chainId, genesisHash } = await source.chain();
  const version = await client.call('web3_clientVersion').catch(() => undefined);
  lines.push(`Client: ${typeof version === 'string' ? plain(version) : 'it does not tell'}`);
  lines.push(`Chain: ${chainId}, genesis ${genesisHash}`);
  const { latest, safe, finalized } = await source.heads();
  lines.push(`Head: block ${latest.number}`);
  lines.push(
    finalized === undefined
      ? 'Finality: it does not tell. Blocks 256 below the head are taken for final'
      : `Finality: block ${finalized.number} is final${safe === undefined ? '' : `, ${safe.number} is safe`}`,
  );
  const { source: way, notes } = await probeTraces(client, { all: true });
  for (const note of notes) lines.push(`Traces: ${note}`);
  if (way === 'none') {
    lines.push(
      'It gives no traces: Floodgate cannot index from it. See docs/nodes.md for what to switch on.',
    );
    return false;
  }
  lines.push(`Floodgate would use ${way}`);
  lines.push(await reach(source, latest.number));
  lines.push(
    way === 'trace_block'
      ? 'Exact: everything that the node tells. docs/nodes.md lists what single clients leave out'
      : 'Not exact: gasUsed of a root frame where gas was refunded or the floor of Prague applied, which is too low then (docs/nodes.md). Everything else is exact',
  );
  return true;
}

/** The lowest block that it gives with traces, found by halving: a node keeps states from some block on. */
async function reach(source: NodeSource, head: number): Promise<string> {
  const gives = async (number: number): Promise<boolean> => {
    try {
      return (await source.block(number)) !== undefined;
    } catch (error) {
      if (!(error instanceof NodeError)) throw error;
      return false;
    }
  };
  if (head === 0) return 'Reach: it has only its genesis block';
  if (!(await gives(head))) return `Reach: not even its head, block ${head}`;
  if (await gives(1)) return 'Reach: back to block 1';
  let missing = 1;
  let given = head;
  while (given - missing > 1) {
    const middle = Math.floor((missing + given) / 2);
    if (await gives(middle)) given = middle;
    else missing = middle;
  }
  return `Reach: back to block ${given}, ${head - given + 1} blocks; what is older must come from another node`;
}

const MAX_VERSION_CHARS = 120;

/** A node's own words, without what a terminal would carry out. */
const plain = (text: string): string => text.replace(/[^\x20-\x7e]/g, '?').slice(0, MAX_VERSION_CHARS);
