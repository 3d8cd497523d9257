import type { NodeCalls } from './nodeClient.ts';
import { NodeError } from './nodeError.ts';
import { METHOD_NOT_FOUND, type RpcResponse, resultOf } from './rpcResponse.ts';

/** The options with which each tracer is asked. */
export const TRACERS = {
  callTracer: { tracer: 'callTracer' },
  flatCallTracer: { tracer: 'flatCallTracer', tracerConfig: { includePrecompiles: true } },
} as const;

/**
 * What a node's tracer answers for a block: by its hash, so that the answer is of this block whatever the chain does
 * meanwhile; by its number where the node has no such method, and only where the block still stands there afterwards.
 * Rejects with NodeError where the node cannot be asked.
 */
export async function traceByTracer(
  node: NodeCalls,
  block: { readonly number: string; readonly hash: string },
  tracer: keyof typeof TRACERS,
): Promise<RpcResponse> {
  const [byHash] = await node.batch([['debug_traceBlockByHash', block.hash, TRACERS[tracer]]]);
  if (byHash !== undefined && !isMissing(byHash)) return byHash;
  const [byNumber] = await node.batch([['debug_traceBlockByNumber', block.number, TRACERS[tracer]]]);
  if (byNumber === undefined) throw new NodeError('nonsense', `${node.host} gave no answer`);
  if ('error' in byNumber) return byNumber;
  const [now] = await node.batch([['eth_getBlockByNumber', block.number, false]]);
  const { hash } = (resultOf('eth_getBlockByNumber', now) ?? {}) as { hash?: unknown }; // any JSON value has members, or none
  if (hash === block.hash) return byNumber;
  throw new NodeError('nonsense', `${node.host} replaced block ${block.number} while it was traced`);
}

const isMissing = (response: RpcResponse): boolean =>
  'error' in response && response.error.code === METHOD_NOT_FOUND;
