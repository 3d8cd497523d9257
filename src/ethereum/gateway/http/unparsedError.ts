import { errorResponse, RpcError } from '../../jsonrpc/index.ts';

/** Returns a JSON-RPC error body for a request that is not valid HTTP or that the HTTP server rejected. */
export const unparsedError = (status: number, message?: string): string =>
  errorResponse(
    null,
    new RpcError(
      status === 429 ? 'limitExceeded' : 'invalidRequest',
      message ?? MESSAGES[status] ?? 'the request is not valid HTTP',
    ),
  );

const MESSAGES: Readonly<Record<number, string>> = {
  408: 'the request did not arrive in time; send it again',
  431: 'the request headers are too large',
};
