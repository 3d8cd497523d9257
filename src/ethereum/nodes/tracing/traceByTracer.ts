import type { CallOptions, NodeCalls } from '../client/nodeClient.ts';
import { NodeError } from '../client/nodeError.ts';
import { METHOD_NOT_FOUND, type RpcResponse, resultOf } from '../client/rpcResponse.ts';
import type { TraceLimits } from '../largeResponses/traceLimits.ts';

/** Options of debug_traceBlockByHash and related methods, by tracer. */
const TRACERS = {
  callTracer: { tracer: 'callTracer' },
  flatCallTracer: { tracer: 'flatCallTracer', tracerConfig: { includePrecompiles: true } },
} as const;

export type Tracer = keyof typeof TRACERS;

/** Returns a tracer's timeout, which is for each transaction. geth's default is 5 s. */
export const tracerTimeout = ({ traceTimeoutMs }: Pick<TraceLimits, 'traceTimeoutMs'>) =>
  `${traceTimeoutMs}ms`;

export const tracerOptions = (tracer: Tracer, limits: Pick<TraceLimits, 'traceTimeoutMs'>) => ({
  ...TRACERS[tracer],
  timeout: tracerTimeout(limits),
});

/**
 * Traces a block with one of geth's tracers, which the options `tracing` select. The request has the block's hash, so that a reorganisation cannot change
 * which block is traced. If the node does not support that, traces by number, then checks that the block was not
 * replaced. Rejects with NodeError.
 */
export async function traceByTracer(
  node: NodeCalls,
  block: { readonly number: string; readonly hash: string },
  { tracing, options }: { readonly tracing: object; readonly options?: CallOptions },
): Promise<RpcResponse> {
  const [byHash] = await node.batch([['debug_traceBlockByHash', block.hash, tracing]], options);
  if (byHash !== undefined && !isMissing(byHash)) return byHash;
  const [byNumber] = await node.batch([['debug_traceBlockByNumber', block.number, tracing]], options);
  if (byNumber === undefined) throw new NodeError('nonsense', `${node.host} sent no response`);
  if ('error' in byNumber) return byNumber;
  await checkInPlace(node, block);
  return byNumber;
}

/** Rejects with NodeError if the block is no longer in the node's chain. */
export async function checkInPlace(
  node: NodeCalls,
  block: { readonly number: string; readonly hash: string },
): Promise<void> {
  const [now] = await node.batch([['eth_getBlockByNumber', block.number, false]]);
  const { hash } = (resultOf('eth_getBlockByNumber', now) ?? {}) as { hash?: unknown }; // safe for any JSON value
  if (hash !== block.hash)
    throw new NodeError('nonsense', `${node.host} replaced block ${block.number} while it was traced`);
}

const isMissing = (response: RpcResponse): boolean =>
  'error' in response && response.error.code === METHOD_NOT_FOUND;
