import { errorResponse, RpcError } from '../jsonrpc/index.ts';

/** The body for a request that is no HTTP, or refused with a message: a JSON-RPC error, as for whatever else goes wrong. */
export const unparsedError = (status: number, message?: string): string =>
  errorResponse(
    null,
    new RpcError('invalidRequest', message ?? MESSAGES[status] ?? 'the request is not HTTP as it should be'),
  );

const MESSAGES: Readonly<Record<number, string>> = {
  408: 'the request did not arrive in time; send it again',
  431: 'the head of the request is too large',
};
