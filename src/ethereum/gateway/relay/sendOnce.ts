import { type Result, RpcError } from '../../jsonrpc/index.ts';
import { neverSent } from '../../nodes/index.ts';
import type { CallContext } from '../method.ts';
import { NoResponseError } from './noResponseError.ts';
import { resultBytes } from './resultBytes.ts';
import { isAlreadyKnown, sentTransactionHash } from './sentTransaction.ts';
import type { UpstreamSender } from './upstreamSender.ts';

/** Sends a transaction to a node. After a lost connection, it is not sent again: the node may have accepted it. */
export async function sendOnce(
  sender: UpstreamSender,
  params: readonly unknown[],
  context: CallContext,
): Promise<Result> {
  try {
    const { client, span } = context;
    const sent = await sender.send({ params, policy: 'never', mayStream: false, client, span });
    context.node = sent.node.name;
    if ('stream' in sent) throw new Error('a node returned an unexpected stream');
    const { response } = sent;
    // The node already has the transaction, perhaps from another node. For the client, this is a success.
    if (response.kind === 'error' && isAlreadyKnown(response.message))
      return Buffer.from(JSON.stringify(sentTransactionHash(String(params[0]))));
    return resultBytes(response);
  } catch (error) {
    if (!(error instanceof NoResponseError) || error.cause === undefined || neverSent(error.cause))
      throw error;
    // The node may have accepted the transaction. The client must check this before it sends another transaction.
    const transactionHash = sentTransactionHash(String(params[0]));
    throw new RpcError(
      'resourceUnavailable',
      'the connection to the node failed after the transaction was sent; the node may have accepted it: look up its hash before sending another',
      { transactionHash },
    );
  }
}
