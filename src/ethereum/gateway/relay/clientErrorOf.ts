import { RpcError } from '../../jsonrpc/index.ts';
import { type FailedRequestError, OversizedResponseError, SlowRequestError } from '../../nodes/index.ts';

/** Returns the error to send to a client if its request, such as one with a large result, made the nodes fail. */
export function clientErrorOf({ cause }: FailedRequestError): RpcError {
  if (cause instanceof SlowRequestError)
    return new RpcError(
      'limitExceeded',
      `the nodes need longer than ${cause.timeoutMs} ms for this request: request less at once (the limit is gateway.requestTimeoutMs)`,
      { limit: cause.timeoutMs },
    );
  if (!(cause instanceof OversizedResponseError))
    return new RpcError('limitExceeded', 'the request is too large for the nodes (HTTP status 413)');
  const { maxBytes } = cause;
  return new RpcError(
    'limitExceeded',
    `the result exceeds ${maxBytes} bytes: request less at once (the limit is gateway.maxAnswerBytes)`,
    { limit: maxBytes },
  );
}
