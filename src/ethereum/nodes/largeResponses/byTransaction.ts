import type { CallOptions, NodeCalls } from '../client/nodeClient.ts';
import { CallError, NodeError } from '../client/nodeError.ts';
import { METHOD_NOT_FOUND, type NodeCall, resultOf } from '../client/rpcResponse.ts';
import { isTooLargeAtOnce, OversizedBlockError } from './oversizedBlockError.ts';
import { ResponseMemory } from './responseMemory.ts';
import type { TraceLimits } from './traceLimits.ts';

/**
 * Makes one call per transaction, in sequence, for a block whose traces are too large for one response. Returns the
 * results. Rejects with OversizedBlockError if a result is too large, or with NodeError `oversized` if the node does
 * not support the method.
 */
export async function askByTransaction(
  node: NodeCalls,
  calls: readonly NodeCall[],
  { limits, what }: { readonly limits: TraceLimits; readonly what: string },
): Promise<unknown[]> {
  const memory = new ResponseMemory(limits.maxBlockBytes, what);
  const options: CallOptions = {
    memory,
    streamAboveBytes: 0,
    maxBytes: limits.maxReadBytes,
    silenceMs: limits.traceTimeoutMs,
  };
  const results: unknown[] = [];
  for (const call of calls) {
    const [method, hash] = call;
    try {
      const [response] = await node.batch([call], options);
      results.push(resultOf(method, response));
    } catch (error) {
      if (error instanceof CallError && error.code === METHOD_NOT_FOUND)
        throw new NodeError(
          'oversized',
          `${what}: the traces are too large for one response, and the node does not support ${method}`,
        );
      if (!isTooLargeAtOnce(error)) throw error;
      throw new OversizedBlockError(
        'bytes read for a transaction',
        `${what}: the traces of transaction ${hash} need more than ${limits.maxReadBytes} bytes, or exceed the node's response limit`,
      );
    }
  }
  return results;
}
