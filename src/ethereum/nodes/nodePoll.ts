import { parseHeader } from '../traces/convert/index.ts';
import { checkBlockHash } from './integrity/blockHash.ts';
import { refusesBatch } from './nodeClient.ts';
import type { NodeConnection } from './nodeConnection.ts';
import { NodeError } from './source.ts';

/** A block's place and name. */
export interface Block {
  readonly number: number;
  readonly hash: string;
  readonly parentHash: string;
}

/** The ends of a node's chain; a node that knows no finality leaves the last two out. */
export interface ChainEnds {
  readonly latest: Block;
  readonly safe?: Block;
  readonly finalized?: Block;
}

/** Which chain a node is on. */
export interface Chain {
  readonly chainId: string;
  /** Undefined where the node does not keep its first block. */
  readonly genesisHash: string | undefined;
}

/** A node that needs longer for so little is not well. */
const POLL_TIMEOUT_MS = 2_000;
/** Three blocks with the hashes of all their transactions are well below. */
const MAX_POLL_BYTES = 4 * 1024 * 1024;

/** The ends of a node's chain. Rejects with NodeError. */
export async function askEnds(connection: NodeConnection): Promise<ChainEnds> {
  const tags = ['latest', 'safe', 'finalized'];
  const [latest, safe, finalized] = await askAll(
    connection,
    tags.map((tag) => ['eth_getBlockByNumber', [tag, false]]),
  );
  const head = blockOf(latest, connection.host);
  if (head === undefined) throw new NodeError('nonsense', `${connection.host} has no latest block`);
  const safeBlock = blockOf(safe, connection.host);
  const finalizedBlock = blockOf(finalized, connection.host);
  return {
    latest: head,
    ...(safeBlock && { safe: safeBlock }),
    ...(finalizedBlock && { finalized: finalizedBlock }),
  };
}

/** Which chain a node is on. Rejects with NodeError. */
export async function askChain(connection: NodeConnection): Promise<Chain> {
  const [chainId, genesis] = await askAll(connection, [
    ['eth_chainId', []],
    ['eth_getBlockByNumber', ['0x0', false]],
  ]);
  if (typeof chainId !== 'string' || !/^0x[0-9a-f]{1,14}$/.test(chainId))
    throw new NodeError('nonsense', `${connection.host} has a chain id that is no number`);
  return { chainId, genesisHash: blockOf(genesis, connection.host)?.hash };
}

/** Any account: what it owns does not matter. */
const SOME_ACCOUNT = `0x${'0'.repeat(40)}`;
/** Codes of a request that was not understood. */
const NOT_UNDERSTOOD: ReadonlySet<unknown> = new Set([-32_600, -32_601, -32_602, -32_700]);

/**
 * Whether a node takes blocks by their hashes where it is asked for state (EIP-1898); undefined where it has not the state
 * of this block. Rejects with NodeError.
 */
export async function askTakesHashes(
  connection: NodeConnection,
  { hash }: Block,
): Promise<boolean | undefined> {
  const params = [SOME_ACCOUNT, { blockHash: hash }];
  const answer = await ask(connection, { jsonrpc: '2.0', id: 0, method: 'eth_getBalance', params });
  if (typeof answer !== 'object' || answer === null) return undefined;
  if ('result' in answer) return typeof answer.result === 'string';
  const error = 'error' in answer ? (answer.error as { readonly code?: unknown } | null) : null;
  return NOT_UNDERSTOOD.has(error?.code) ? false : undefined;
}

/** The hash of the block at a height; undefined where the node has none. Rejects with NodeError. */
export async function askBlockHash(connection: NodeConnection, number: number): Promise<string | undefined> {
  const [block] = await askAll(connection, [['eth_getBlockByNumber', [`0x${number.toString(16)}`, false]]]);
  return blockOf(block, connection.host)?.hash;
}

/** Results of several calls, in one request where the node takes batches; undefined for those that it answered with an error. */
async function askAll(
  connection: NodeConnection,
  calls: readonly (readonly [string, readonly unknown[]])[],
): Promise<unknown[]> {
  const requests = calls.map(([method, params], id) => ({ jsonrpc: '2.0', id, method, params }));
  let list = ONE_BY_ONE.has(connection) ? undefined : await ask(connection, requests);
  if (refusesBatch(list)) ONE_BY_ONE.add(connection);
  if (ONE_BY_ONE.has(connection))
    list = await Promise.all(requests.map((request) => ask(connection, request)));
  if (!Array.isArray(list))
    throw new NodeError('nonsense', `${connection.host} answered a batch with no list`);
  const results: unknown[] = calls.map(() => undefined);
  for (const entry of list as readonly unknown[])
    if (typeof entry === 'object' && entry !== null && 'id' in entry && 'result' in entry)
      if (typeof entry.id === 'number' && entry.id in results) results[entry.id] = entry.result;
  return results;
}

/** Nodes that were found to take no batches. */
const ONE_BY_ONE = new WeakSet<NodeConnection>();

async function ask(connection: NodeConnection, body: unknown): Promise<unknown> {
  const options = { timeoutMs: POLL_TIMEOUT_MS, maxBytes: MAX_POLL_BYTES, mayStream: false };
  const answer = await connection.post(JSON.stringify(body), options).body;
  return answer.kind === 'whole' ? parse(answer.bytes) : undefined;
}

function blockOf(answer: unknown, host: string): Block | undefined {
  if (answer === undefined || answer === null) return undefined;
  try {
    const { number, hash, parentHash } = parseHeader(answer);
    checkBlockHash(answer);
    return { number, hash, parentHash };
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new NodeError('nonsense', `${host}: ${reason}`, { cause });
  }
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    return undefined;
  }
}
