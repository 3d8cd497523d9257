import { NoNodeError, RpcError } from '../../../jsonrpc/index.ts';
import { NodeError, type NodePool, type UpstreamNode } from '../../../nodes/index.ts';
import type { Hash } from '../../../traces/index.ts';
import { isTag } from '../../methods/paramTypes.ts';
import type { TracedRow } from '../../methods/row.ts';
import type { TracerOptions } from '../../methods/tracerOptions.ts';
import type { IndexServices } from '../../traceIndex/traces/indexServices.ts';
import { numberOf } from '../resolveTags.ts';

/** What nodes trace for a request. */
export interface TraceTarget {
  /** Method of the node. A block that is not final is requested by its hash, if that is known. */
  readonly method: string;
  /** Parameters for a node, without the options. */
  readonly paramsFor: (node: UpstreamNode) => readonly unknown[];
  /** Number of the block; undefined for a call at a block hash. */
  readonly blockNumber: number | undefined;
  /** Hash of the block, if the client named it. */
  readonly blockHash?: string;
  readonly transactionHash?: string;
}

/** Replaces a block tag by the number of its block. Other parameters stay. A single node is polled first. */
export async function resolveBlockTag(block: unknown, pool: NodePool): Promise<unknown> {
  if (!isTag(block)) return block;
  const [node] = pool.nodes;
  if (pool.isSingle && node !== undefined) await pool.refresh(node);
  if (pool.heads.latest === undefined) await pool.waitForRecovery();
  return numberOf(block, pool);
}

/** Returns what to trace for a request whose block tag was resolved. Throws RpcError. */
export async function traceTargetOf(
  { name, traces }: TracedRow,
  params: readonly unknown[],
  { pool, index }: { readonly pool: NodePool; readonly index: IndexServices },
): Promise<TraceTarget> {
  const [subject] = params;
  if (traces === 'call') return callTarget(params, pool);
  if (traces === 'transaction') {
    const hash = subject as Hash; // validated by the parameter type
    const transaction = { transactionHash: hash, blockNumber: await blockOfTransaction(hash, index) };
    return { method: name, paramsFor: () => [hash], ...transaction };
  }
  if (name === 'debug_traceBlockByHash') {
    const blockHash = subject as Hash; // validated by the parameter type
    return {
      method: name,
      paramsFor: () => [blockHash],
      blockHash,
      blockNumber: await numberOfHash(blockHash, index),
    };
  }
  const blockNumber = Number(subject);
  await assertExists(blockNumber, pool);
  const hash = blockNumber > (pool.heads.final ?? -1) ? pool.heads.hashOf(blockNumber) : undefined;
  const method = hash === undefined ? name : 'debug_traceBlockByHash';
  return { method, paramsFor: () => [hash ?? subject], blockNumber };
}

async function callTarget([transaction, block]: readonly unknown[], pool: NodePool): Promise<TraceTarget> {
  const method = 'debug_traceCall';
  if (typeof block !== 'string')
    return { method, paramsFor: () => [transaction, block], blockNumber: undefined };
  const blockNumber = Number(block);
  await assertExists(blockNumber, pool);
  const blockHash = pool.heads.hashOf(blockNumber);
  const byHash = blockHash === undefined ? block : { blockHash };
  const paramsFor = (node: UpstreamNode) => [transaction, node.supportsBlockHashes === true ? byHash : block];
  return { method, paramsFor, blockNumber };
}

/** Throws RpcError if a block is above the head, even after a poll. */
async function assertExists(blockNumber: number, pool: NodePool): Promise<void> {
  const isKnown = (): boolean => blockNumber <= (pool.heads.latest?.number ?? -1);
  if (isKnown()) return;
  await (pool.isFollower ? pool.catchUp() : Promise.all(pool.nodes.map((node) => pool.refresh(node))));
  if (isKnown()) return;
  const { latest } = pool.heads;
  if (latest === undefined) throw new NoNodeError();
  throw new RpcError(
    'resourceNotFound',
    `block ${blockNumber} does not exist yet: the latest block is ${latest.number}`,
    { blockNumber },
  );
}

async function blockOfTransaction(hash: Hash, { store, indexer, finder }: IndexServices): Promise<number> {
  const indexed = await store.transactionPosition(hash, { upTo: indexer.lastHeads?.latest.number });
  const number = indexed?.blockNumber ?? (await fromNodes(finder.transactionBlock(hash)));
  if (number !== undefined) return number;
  throw new RpcError('resourceNotFound', `transaction ${hash} not found: no block contains it`, {
    transactionHash: hash,
  });
}

async function numberOfHash(hash: Hash, { finder }: IndexServices): Promise<number> {
  const block = await fromNodes(finder.blockOfHash(hash));
  if (block !== undefined) return block.number;
  throw new RpcError('resourceNotFound', `block ${hash} not found: no node knows it`, { blockHash: hash });
}

async function fromNodes<T>(found: Promise<T>): Promise<T> {
  try {
    return await found;
  } catch (error) {
    throw error instanceof NodeError ? new NoNodeError() : error;
  }
}

/** Returns the options that a node gets. Its timeout is for each transaction, in the format of Go. */
export const nodeOptions = (
  { timeoutMs: _, tracerConfig, ...options }: TracerOptions,
  transactionTimeoutMs: number,
): object => ({
  ...options,
  ...(Object.keys(tracerConfig).length > 0 && { tracerConfig }),
  timeout: `${transactionTimeoutMs}ms`,
});
