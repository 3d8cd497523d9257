import { NodeError } from './nodeError.ts';

/** Codes of connections that were never made: the node cannot have seen the request. */
const NEVER_SENT = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** Codes of a connection on which nothing arrived in time. */
const TIMED_OUT = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT']);

const NOT_SENT = new WeakSet<NodeError>();

/** The node cannot have seen the request: it may be sent to another one whatever it was. */
export const neverSent = (error: unknown): boolean => error instanceof NodeError && NOT_SENT.has(error);

/** Marks an error as one of a request that no node can have seen. */
export function notSent(error: NodeError): NodeError {
  NOT_SENT.add(error);
  return error;
}

/** What ended a request to a node, in our words. `sent`: it went out on a connection. */
export function connectionError(error: Error, host: string, sent: boolean): NodeError {
  // We broke it off ourselves, with the reason.
  if (error instanceof NodeError) return error;
  const code = 'code' in error ? String(error.code) : error.name;
  if (TIMED_OUT.has(code))
    return new NodeError('timeout', `${host} did not answer in time (${code})`, { cause: error });
  const failure = new NodeError('unreachable', `${host} cannot be reached or broke off (${code})`, {
    cause: error,
  });
  return !sent || NEVER_SENT.has(code) ? notSent(failure) : failure;
}
