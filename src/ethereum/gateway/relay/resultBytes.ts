import { RpcError } from '../../jsonrpc/index.ts';
import type { UpstreamResponse } from '../../nodes/index.ts';

/** The result of a node's response. Throws RpcError where it is an error. */
export function resultBytes(response: UpstreamResponse): Buffer {
  if (response.kind === 'result') return response.bytes;
  // The node's own error, its code kept: clients tell a reverted call from a bad parameter by it.
  throw new RpcError(response.code, response.message, response.data);
}
