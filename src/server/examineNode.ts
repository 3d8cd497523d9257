import { ASSUMED_FINAL_DEPTH } from '../ethereum/ingest/index.ts';
import { NodeClient, NodeError, NodeTraces, probeTraceMethods } from '../ethereum/nodes/index.ts';

/** What a node is and offers, in plain words. */
export interface NodeReport {
  /** Host and port: never the path, the query or the credentials, which may be keys. */
  readonly node: string;
  readonly lines: readonly string[];
  /** Floodgate can index from it. */
  readonly isUsable: boolean;
  /** Which chain it is on; undefined where it did not tell. */
  readonly chain: string | undefined;
}

/** Looks at a node as Floodgate would use it. Never rejects because of the node: what is wrong with it is reported. */
export async function examineNode(url: string): Promise<NodeReport> {
  const client = new NodeClient(url);
  const lines: string[] = [];
  let chain: string | undefined;
  let isUsable = false;
  try {
    const traces = new NodeTraces(client);
    const { chainId, genesisHash } = await traces.chain();
    chain = `${chainId}, genesis ${genesisHash}`;
    lines.push(await clientOf(client), `Chain: ${chain}`);
    isUsable = await examine(client, traces, lines);
  } catch (error) {
    if (!(error instanceof NodeError)) throw error;
    lines.push(
      `It cannot be used: ${error.message}. Check the address, and that the node's HTTP JSON-RPC is on.`,
    );
  } finally {
    await client.close();
  }
  return {
    node: client.host,
    lines,
    isUsable,
    chain,
  };
}

async function clientOf(client: NodeClient): Promise<string> {
  const version = await client.call('web3_clientVersion').catch(() => undefined);
  return `Client: ${typeof version === 'string' ? plain(version) : 'it does not tell'}`;
}

async function examine(client: NodeClient, traces: NodeTraces, lines: string[]): Promise<boolean> {
  const { latest, safe, finalized } = await traces.heads();
  lines.push(`Head: block ${latest.number}`);
  lines.push(
    finalized === undefined
      ? `Finality: it does not tell. Blocks ${ASSUMED_FINAL_DEPTH} below the head are taken for final`
      : `Finality: block ${finalized.number} is final${safe === undefined ? '' : `, ${safe.number} is safe`}`,
  );
  const { method: traceMethod, remarks } = await probeTraceMethods(client, { all: true });
  for (const remark of remarks) lines.push(`Traces: ${remark}`);
  if (traceMethod === 'none') {
    lines.push(
      'It gives no traces: Floodgate cannot index from it. See docs/nodes.md for what to switch on.',
    );
    return false;
  }
  lines.push(`Floodgate would use ${traceMethod}`);
  const refusal = await refusalOf(traces, latest.number);
  if (refusal !== undefined) {
    lines.push(`It does not give its own head, block ${latest.number}: ${refusal}`);
    return false;
  }
  lines.push(await reach(traces, latest.number));
  lines.push(
    traceMethod === 'trace_block'
      ? 'Exact: everything that the node tells. docs/nodes.md lists what single clients leave out'
      : 'Not exact: gasUsed of a root frame where gas was refunded or the floor of Prague applied, which is too low then (docs/nodes.md). Everything else is exact',
  );
  return true;
}

/** Why a node does not give a block with its traces; undefined where it does. */
async function refusalOf(traces: NodeTraces, blockNumber: number): Promise<string | undefined> {
  try {
    return (await traces.block(blockNumber)) === undefined ? 'it says that there is none' : undefined;
  } catch (error) {
    if (!(error instanceof NodeError)) throw error;
    return plain(error.message);
  }
}

/** The lowest block that it gives with traces, found by halving: a node keeps states from some block on. */
async function reach(traces: NodeTraces, head: number): Promise<string> {
  if (head === 0) return 'Reach: it has only its genesis block';
  let missing = 1;
  let refusal = await refusalOf(traces, missing);
  if (refusal === undefined) return 'Reach: back to block 1';
  let given = head;
  while (given - missing > 1) {
    const middle = Math.floor((missing + given) / 2);
    const refused = await refusalOf(traces, middle);
    if (refused === undefined) given = middle;
    else {
      missing = middle;
      refusal = refused;
    }
  }
  return (
    `Reach: back to block ${given}, ${head - given + 1} blocks; what is older must come from another node. Of block ` +
    `${missing} it says: ${refusal}`
  );
}

/** Of a node's own words, what is repeated. */
const MAX_QUOTED_CHARS = 240;

/** A node's own words, without what a terminal would carry out. */
const plain = (text: string): string => text.replace(/[^\x20-\x7e]/g, '?').slice(0, MAX_QUOTED_CHARS);
