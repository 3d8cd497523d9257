import { ASSUMED_FINAL_DEPTH } from '../../ethereum/ingest/index.ts';
import {
  NodeClient,
  NodeError,
  NodeTraces,
  probeGasCalls,
  probeTraceMethods,
} from '../../ethereum/nodes/index.ts';
import type { ChainRules } from '../../ethereum/traces/convert/index.ts';

/** Maximum number of blocks below the head that are tried if the node cannot trace its head. */
const MAX_BLOCKS_BELOW_HEAD = 4;

/** Report on the client and capabilities of a node, as text lines for operators. */
export interface NodeReport {
  /** Host and port of the node's URL, without path, query and credentials, because these may contain secrets. */
  readonly node: string;
  readonly lines: readonly string[];
  readonly isUsable: boolean;
  /** Chain ID and genesis hash; undefined if the node did not return them. */
  readonly chain: string | undefined;
}

/** Examines a node with the calls that Floodgate uses. Faults of the node are reported; they do not reject. */
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
      `Not usable: ${error.message}. Check the address, and that HTTP JSON-RPC is enabled on the node.`,
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
  return `Client: ${typeof version === 'string' ? printable(version) : 'unknown'}`;
}

async function examine(client: NodeClient, traces: NodeTraces, lines: string[]): Promise<boolean> {
  const { latest, safe, finalized } = await traces.heads();
  lines.push(`Head: block ${latest.number}`);
  lines.push(
    finalized === undefined
      ? `Finality: not reported. Blocks ${ASSUMED_FINAL_DEPTH} below the head count as final`
      : `Finality: block ${finalized.number} is final${safe === undefined ? '' : `, ${safe.number} is safe`}`,
  );
  const rules = await traces.rulesWithForks();
  lines.push(...rulesLines(rules));
  if (rules.unsupported !== undefined) return false;
  const { method: traceMethod, remarks } = await probeTraceMethods(client, { all: true });
  for (const remark of remarks) lines.push(`Traces: ${remark}`);
  if (traceMethod === 'none') {
    lines.push(
      'No traces: Floodgate cannot index from this node. docs/reference/nodes.md lists the options to enable.',
    );
    return false;
  }
  if (rules.rewards === 'node' && traceMethod !== 'trace_block') {
    lines.push(
      `Floodgate cannot index from this node: only trace_block lists the rewards of ${rules.name}. Use Nethermind or Erigon`,
    );
    return false;
  }
  lines.push(`Floodgate would use ${traceMethod}`);
  const refusal = await traceFailureOf(traces, latest.number);
  let highest: number | undefined = latest.number;
  if (refusal !== undefined) {
    lines.push(`It cannot trace its own head, block ${latest.number}: ${refusal}`);
    highest = await highestTraced(traces, latest.number - 1);
    if (highest === undefined) return false;
    lines.push(
      `It can trace block ${highest}. A block that no node can trace is recorded as unavailable, and the others are indexed`,
    );
  }
  lines.push(await traceDepth(traces, highest));
  lines.push(
    ...(traceMethod === 'trace_block'
      ? ['Exact: all data of the node. docs/reference/nodes.md lists data that some clients omit']
      : inexactLines(await probeGasCalls(client, latest, rules))),
  );
  return true;
}

/** Returns lines with what is not exact from a node that has only tracers. */
function inexactLines(refused: readonly string[]): string[] {
  return [
    'Not exact: gasUsed of a root frame, which is too low if gas was refunded or the gas floor of Prague applied, or if it paid for state since Amsterdam',
    ...refused.map((what) => `Not exact: ${what}`),
    'Everything else is exact (docs/reference/geth-traces.md)',
  ];
}

/** Returns lines with the rules of the chain and their inaccuracies. */
function rulesLines({
  name,
  areForksAssumed,
  rewards,
  remarks,
  unsupported,
  reported = [],
}: ChainRules): string[] {
  if (unsupported !== undefined) return [`Rules: ${unsupported}`];
  const assumed = areForksAssumed
    ? ", with Ethereum's forks up to Osaka from block 0 on. If they differ, gas of root frames from tracers is not exact"
    : '';
  const unverified =
    rewards === 'optional' ? ['Rules: rewards are stored as the node lists them, and not verified'] : [];
  const forks = reported.map(
    ({ fork, since }) =>
      `Rules: the node reports those of ${fork} for blocks since timestamp ${since} (eth_config)`,
  );
  return [
    `Rules: ${name}${assumed}`,
    ...forks,
    ...remarks.map((remark) => `Rules: ${remark}`),
    ...unverified,
  ];
}

/** Returns the reason why a node does not return a block with its traces; undefined if it returns the block. */
async function traceFailureOf(traces: NodeTraces, blockNumber: number): Promise<string | undefined> {
  try {
    return (await traces.block(blockNumber)) === undefined
      ? 'the node reports that it does not exist'
      : undefined;
  } catch (error) {
    if (!(error instanceof NodeError)) throw error;
    return printable(error.message);
  }
}

/**
 * Returns the number of the highest block, from `from` downwards, that the node can trace; undefined if it can trace
 * none of the first few.
 */
async function highestTraced(traces: NodeTraces, from: number): Promise<number | undefined> {
  for (let number = from; number > Math.max(0, from - MAX_BLOCKS_BELOW_HEAD); number--)
    if ((await traceFailureOf(traces, number)) === undefined) return number;
  return undefined;
}

/** Returns a line with the lowest block that the node can trace; it can also trace all blocks above that one. */
async function traceDepth(traces: NodeTraces, head: number): Promise<string> {
  if (head === 0) return 'Reach: it has only its genesis block';
  let missing = 1;
  let refusal = await traceFailureOf(traces, missing);
  if (refusal === undefined) return 'Reach: back to block 1';
  let given = head;
  while (given - missing > 1) {
    const middle = Math.floor((missing + given) / 2);
    const refused = await traceFailureOf(traces, middle);
    if (refused === undefined) given = middle;
    else {
      missing = middle;
      refusal = refused;
    }
  }
  return (
    `Reach: back to block ${given}, ${head - given + 1} blocks; older blocks require another node. Block ` +
    `${missing}: ${refusal}`
  );
}

/** Maximum number of characters that the report quotes from a node. */
const MAX_QUOTED_CHARS = 240;

/** Replaces non-printable characters of a node's message, which a terminal may interpret, and truncates it. */
const printable = (text: string): string => text.replace(/[^\x20-\x7e]/g, '?').slice(0, MAX_QUOTED_CHARS);
