import { parseHeader } from '../../traces/convert/index.ts';
import type { Hash } from '../../traces/index.ts';
import type { CallOptions, NodeClient } from '../client/nodeClient.ts';
import { NodeError } from '../client/nodeError.ts';
import { resultOf } from '../client/rpcResponse.ts';
import { checkBlockHash } from '../integrity/blockHash.ts';

export interface BlockRef {
  readonly number: number;
  readonly hash: Hash;
}

/** JSON members of a block header. */
export type HeaderMembers = Readonly<Record<string, unknown>>;

/** A block with the hash of its parent, which shows if the block continues a known chain. */
export interface HeadBlock extends BlockRef {
  readonly parentHash: Hash;
  /** Header as the node returned it, as JSON. Undefined for a safe or finalized block, and for a long header. */
  readonly header?: string;
}

/** Blocks that a node reports for the tags `latest`, `safe` and `finalized`. It may not support the last two. */
export interface NodeHeads {
  readonly latest: HeadBlock;
  readonly safe?: HeadBlock;
  readonly finalized?: HeadBlock;
}

/** Maximum length of a kept header, which is sent to each worker. Headers of known chains are shorter. */
const MAX_HEADER_CHARACTERS = 16 * 1024;

/** JSON members of a block that are not part of its header. Notifications of new heads omit them. */
const NOT_OF_HEADER: ReadonlySet<string> = new Set([
  'transactions',
  'uncles',
  'withdrawals',
  'size',
  'totalDifficulty',
]);

/** Returns the members of a block that are part of its header. */
export const headerOf = (block: HeaderMembers): HeaderMembers =>
  Object.fromEntries(Object.entries(block).filter(([name]) => !NOT_OF_HEADER.has(name)));

const TAGS = ['latest', 'safe', 'finalized'] as const;

/** Requests the heads of a node in one batch. Rejects with NodeError. */
export async function askHeads(client: NodeClient, options?: CallOptions): Promise<NodeHeads> {
  const responses = await client.batch(
    TAGS.map((tag) => ['eth_getBlockByNumber', tag, false]),
    options,
  );
  const block = resultOf('eth_getBlockByNumber', responses[0]);
  const head = headBlock(block, client);
  if (head === undefined) throw new NodeError('nonsense', `${client.host} has no latest block`);
  const header = JSON.stringify(headerOf(block as HeaderMembers)); // headBlock has verified that it is an object
  const latest = header.length <= MAX_HEADER_CHARACTERS ? { ...head, header } : head;
  const [safe, finalized] = [responses[1], responses[2]].map((response) =>
    response !== undefined && 'result' in response ? headBlock(response.result, client) : undefined,
  );
  return { latest, ...(safe && { safe }), ...(finalized && { finalized }) };
}

/** Requests the block with a number; undefined if the node does not have this block. Rejects with NodeError. */
export async function askBlockRef(
  client: NodeClient,
  number: number,
  options?: CallOptions,
): Promise<BlockRef | undefined> {
  const [response] = await client.batch(
    [['eth_getBlockByNumber', `0x${number.toString(16)}`, false]],
    options,
  );
  return headBlock(resultOf('eth_getBlockByNumber', response), client);
}

/** Requests the block with a hash, on any fork; undefined if the node does not know it. Rejects with NodeError. */
export async function askBlockOfHash(client: NodeClient, hash: Hash): Promise<BlockRef | undefined> {
  const [response] = await client.batch([['eth_getBlockByHash', hash, false]]);
  const block = headBlock(resultOf('eth_getBlockByHash', response), client);
  if (block === undefined || block.hash === hash) return block;
  throw new NodeError('nonsense', `${client.host} returned block ${block.hash} for block ${hash}`);
}

function headBlock(block: unknown, { host }: NodeClient): HeadBlock | undefined {
  if (block === null) return undefined;
  try {
    const { number, hash, parentHash } = parseHeader(block);
    checkBlockHash(block);
    return { number, hash, parentHash };
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new NodeError('nonsense', `${host}: ${reason}`, { cause });
  }
}
