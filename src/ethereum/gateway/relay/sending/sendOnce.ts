import { type Result, RpcError } from '../../../jsonrpc/index.ts';
import { neverSent, type UpstreamNode, type UpstreamResponse } from '../../../nodes/index.ts';
import { type CallContext, clientOf } from '../../method.ts';
import { NoResponseError } from '../noResponseError.ts';
import { resultBytes } from '../resultBytes.ts';
import type { UpstreamSender } from '../upstreamSender.ts';
import { isAlreadyKnown, isNonceUsed, sentTransactionHash } from './sentTransaction.ts';

export interface TransactionSenders {
  readonly send: UpstreamSender;
  /** Sends `eth_getTransactionByHash`. */
  readonly lookUp: UpstreamSender;
  /** Called if a node has accepted the transaction. The result is returned after the promise has resolved. */
  readonly accepted: (hashOf: () => string, node: UpstreamNode) => Promise<void>;
}

/** Sends a transaction to a node. After a lost connection, it is not sent again: the node may have accepted it. */
export async function sendOnce(
  senders: TransactionSenders,
  params: readonly unknown[],
  context: CallContext,
): Promise<Result> {
  // Called only for transactions that a node knows, or may know: hashing 1 MB takes 30 ms.
  const hashOf = (): string => sentTransactionHash(String(params[0]));
  try {
    const { span } = context;
    const client = clientOf(context);
    const sent = await senders.send.send({ params, policy: 'never', mayStream: false, client, span });
    context.node = sent.node.name;
    if ('stream' in sent) throw new Error('a node returned an unexpected stream');
    const { response } = sent;
    // The node already has the transaction, perhaps from another node. For the client, this is a success.
    const isKnownAlready =
      response.kind === 'error' && (await isKnown(response.message, hashOf, senders.lookUp));
    if (response.kind === 'result' || isKnownAlready) await senders.accepted(hashOf, sent.node);
    return isKnownAlready ? Buffer.from(JSON.stringify(hashOf())) : resultBytes(response);
  } catch (error) {
    if (!(error instanceof NoResponseError) || error.cause === undefined || neverSent(error.cause))
      throw error;
    // The node may have accepted the transaction. The client must check this before it sends another transaction.
    throw new RpcError(
      'resourceUnavailable',
      'the connection to the node failed after the transaction was sent; the node may have accepted it: look up its hash before sending another',
      { transactionHash: hashOf() },
    );
  }
}

/** Returns whether a node rejected a transaction because it has it already, in its pool or in a block. */
async function isKnown(message: string, hashOf: () => string, lookUp: UpstreamSender): Promise<boolean> {
  if (isAlreadyKnown(message)) return true;
  if (!isNonceUsed(message)) return false;
  const found = await lookUp
    .send({ params: [hashOf()], policy: 'never', mayStream: false })
    .catch(() => undefined);
  return found !== undefined && 'response' in found && isTransaction(found.response);
}

const isTransaction = (response: UpstreamResponse): boolean =>
  response.kind === 'result' && response.value !== null;
