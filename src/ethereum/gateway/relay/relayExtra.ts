import { type Result, RpcError } from '../../jsonrpc/index.ts';
import { ArrivalRoom, neverSent } from '../../nodes/index.ts';
import type { CallContext } from '../method.ts';
import { resultBytes } from './resultBytes.ts';
import { Unanswered } from './unanswered.ts';
import type { UpstreamSender } from './upstreamSender.ts';

/** Relays a call of which nothing is known: a node may have carried it out although its answer never comes. */
export async function relayExtra(
  sender: UpstreamSender,
  params: readonly unknown[],
  context: CallContext,
): Promise<Result> {
  const room = new ArrivalRoom(context.room);
  try {
    const { client, span } = context;
    const sent = await sender.send({ params, policy: 'never', mayStream: false, room, client, span });
    context.node = sent.node.name;
    if ('stream' in sent) throw new Error('a node answered with a stream where none was asked for');
    return resultBytes(sent.response);
  } catch (error) {
    if (!(error instanceof Unanswered) || error.cause === undefined || neverSent(error.cause)) throw error;
    throw new RpcError(
      'resourceUnavailable',
      'the node broke off after it was sent the call, and may have carried it out: the gateway does not send it again',
    );
  } finally {
    room.close();
  }
}
