import { RpcError } from '../../jsonrpc/index.ts';
import type { UpstreamResponse } from '../../nodes/index.ts';

/** Returns the result in a node's response as JSON bytes. Throws RpcError if the response is an error. */
export function resultBytes(response: UpstreamResponse): Buffer {
  if (response.kind === 'result') return response.bytes;
  // The error code of the node is kept, because clients use it to distinguish reverted calls from invalid parameters.
  throw new RpcError(response.code, response.message, response.data);
}
