import { type Result, RpcError } from '../../jsonrpc/index.ts';
import { neverSent } from '../../nodes/index.ts';
import type { CallContext } from '../method.ts';
import { resultBytes } from './resultBytes.ts';
import { isAlreadyKnown, sentTransactionHash } from './sentTransaction.ts';
import { Unanswered } from './unanswered.ts';
import type { UpstreamSender } from './upstreamSender.ts';

/** Sends a transaction, which a node may take although its answer never comes. */
export async function sendOnce(
  sender: UpstreamSender,
  params: readonly unknown[],
  context: CallContext,
): Promise<Result> {
  try {
    const { client, span } = context;
    const sent = await sender.send({ params, policy: 'never', mayStream: false, client, span });
    context.node = sent.node.name;
    if ('stream' in sent) throw new Error('a node answered with a stream where none was asked for');
    const { response } = sent;
    // What the sender wants is so: it sends again what got through before, perhaps by another node.
    if (response.kind === 'error' && isAlreadyKnown(response.message))
      return Buffer.from(JSON.stringify(sentTransactionHash(String(params[0]))));
    return resultBytes(response);
  } catch (error) {
    if (!(error instanceof Unanswered) || error.cause === undefined || neverSent(error.cause)) throw error;
    // It may have got through: the sender must look before sending anything else from that account.
    const transactionHash = sentTransactionHash(String(params[0]));
    throw new RpcError(
      'resourceUnavailable',
      'the node broke off after it was sent the transaction, and may have taken it: look for its hash before sending another',
      { transactionHash },
    );
  }
}
