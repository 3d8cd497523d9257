import { NodeError } from './nodeError.ts';

/** Error codes of connections that were never established, so the node cannot have received the request. */
const NEVER_SENT = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

const TIMED_OUT = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT']);

const NOT_SENT = new WeakSet<NodeError>();

/** True if the node cannot have received the request, so that any request may be sent to another node. */
export const neverSent = (error: unknown): boolean => error instanceof NodeError && NOT_SENT.has(error);

/** Records that no node can have received the request that failed with this error. Returns the error. */
export function notSent(error: NodeError): NodeError {
  NOT_SENT.add(error);
  return error;
}

/** Returns the NodeError for a failed connection. `sent` is true if the request was written to a connection. */
export function connectionError(error: Error, host: string, sent: boolean): NodeError {
  // Floodgate itself has aborted the request, with this error as the reason.
  if (error instanceof NodeError) return error;
  const { code = error.name } = error as NodeJS.ErrnoException;
  if (TIMED_OUT.has(code))
    return new NodeError('timeout', `${host} did not answer in time (${code})`, { cause: error });
  const failure = new NodeError(
    'unreachable',
    `${host} cannot be reached or closed the connection (${code})`,
    {
      cause: error,
    },
  );
  return !sent || NEVER_SENT.has(code) ? notSent(failure) : failure;
}
