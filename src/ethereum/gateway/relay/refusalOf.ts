import { RpcError } from '../../jsonrpc/index.ts';
import { type FailedRequestError, OversizedAnswerError, SlowRequestError } from '../../nodes/index.ts';

/** What a client hears of a request that has failed by its own fault. */
export function refusalOf({ cause }: FailedRequestError): RpcError {
  if (cause instanceof SlowRequestError)
    return new RpcError(
      'limitExceeded',
      `the nodes need longer than ${cause.timeoutMs} ms for this: ask for less at once (the limit is gateway.requestTimeoutMs)`,
      { limit: cause.timeoutMs },
    );
  if (!(cause instanceof OversizedAnswerError))
    return new RpcError('limitExceeded', 'the request is larger than the nodes take (HTTP status 413)');
  const { maxBytes } = cause;
  return new RpcError(
    'limitExceeded',
    `the answer is over ${maxBytes} bytes: ask for less at once (the limit is gateway.maxAnswerBytes)`,
    { limit: maxBytes },
  );
}
