import { type Result, RpcError } from '../../jsonrpc/index.ts';
import { neverSent, ReceiveReservation } from '../../nodes/index.ts';
import { type CallContext, clientOf } from '../method.ts';
import { NoResponseError } from './noResponseError.ts';
import { resultBytes } from './resultBytes.ts';
import type { UpstreamSender } from './upstreamSender.ts';

/** Relays a method that the operator added. After a lost connection, the call is not repeated: it may have run. */
export async function relayExtra(
  sender: UpstreamSender,
  params: readonly unknown[],
  context: CallContext,
): Promise<Result> {
  const room = new ReceiveReservation(context.room);
  try {
    const { span } = context;
    const client = clientOf(context);
    const sent = await sender.send({ params, policy: 'never', mayStream: false, room, client, span });
    context.node = sent.node.name;
    if ('stream' in sent) throw new Error('a node returned an unexpected stream');
    return resultBytes(sent.response);
  } catch (error) {
    if (!(error instanceof NoResponseError) || error.cause === undefined || neverSent(error.cause))
      throw error;
    throw new RpcError(
      'resourceUnavailable',
      'the connection to the node failed after the call was sent; the node may have executed it, so the gateway does not retry it',
    );
  } finally {
    room.release();
  }
}
