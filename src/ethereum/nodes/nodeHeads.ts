import { parseHeader } from '../traces/convert/index.ts';
import type { Hash } from '../traces/index.ts';
import { checkBlockHash } from './integrity/blockHash.ts';
import type { CallLimits, NodeClient } from './nodeClient.ts';
import { NodeError } from './nodeError.ts';
import { resultOf } from './rpcResponse.ts';

/** A block's place and name. */
export interface BlockRef {
  readonly number: number;
  readonly hash: Hash;
}

/** A block by which its chain is told from another. */
export interface HeadBlock extends BlockRef {
  readonly parentHash: Hash;
}

/** The heads of a chain. A node that knows no finality leaves the last two out. */
export interface NodeHeads {
  readonly latest: HeadBlock;
  readonly safe?: HeadBlock;
  readonly finalized?: HeadBlock;
}

const TAGS = ['latest', 'safe', 'finalized'] as const;

/** The heads of a node's chain, asked for in one request. Rejects with NodeError. */
export async function askHeads(client: NodeClient, limits?: CallLimits): Promise<NodeHeads> {
  const responses = await client.batch(
    TAGS.map((tag) => ['eth_getBlockByNumber', tag, false]),
    limits,
  );
  const latest = headBlock(resultOf('eth_getBlockByNumber', responses[0]), client);
  if (latest === undefined) throw new NodeError('nonsense', `${client.host} has no latest block`);
  const [safe, finalized] = [responses[1], responses[2]].map((response) =>
    response !== undefined && 'result' in response ? headBlock(response.result, client) : undefined,
  );
  return { latest, ...(safe && { safe }), ...(finalized && { finalized }) };
}

/** The block at a height; undefined where the node has none. Rejects with NodeError. */
export async function askBlockRef(
  client: NodeClient,
  number: number,
  limits?: CallLimits,
): Promise<BlockRef | undefined> {
  const [response] = await client.batch(
    [['eth_getBlockByNumber', `0x${number.toString(16)}`, false]],
    limits,
  );
  return headBlock(resultOf('eth_getBlockByNumber', response), client);
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
