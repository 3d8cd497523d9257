import { RpcError } from '../rpc/index.ts';
import { NodeError } from '../traces/index.ts';
import type { Method } from './method.ts';
import type { NodeClient } from './upstream/nodeClient.ts';

/** A method that the node answers: its parameters and its answer pass through. */
export function relayed(node: NodeClient, name: string, summary: string): Method {
  return {
    name,
    summary,
    async handle(params) {
      const [answer] = await node.batch([[name, ...params]]).catch((error: unknown) => {
        if (!(error instanceof NodeError)) throw error;
        throw new RpcError('resourceUnavailable', 'no node can answer now; try again');
      });
      if (answer === undefined || 'error' in answer) throw nodeError(answer?.error);
      return Buffer.from(JSON.stringify(answer.result));
    },
  };
}

/** The node's own error, its code kept: clients tell a reverted call from a bad parameter by it. */
function nodeError(error: { code: number; message: string; data?: unknown } | undefined): RpcError {
  if (error === undefined) return new RpcError('resourceUnavailable', 'the node gave no answer');
  return new RpcError(error.code, error.message, error.data);
}
