import type { Span } from '../../../platform/spans/index.ts';
import { NodeError } from './nodeError.ts';

/** Starts the span of a request to a node. Its name lists each method once, because a batch may repeat a method. */
export function callSpan(parent: Span, host: string, calls: readonly { readonly method: string }[]): Span {
  const methods = [...new Set(calls.map(({ method }) => method))].join(' ');
  const span = parent.child(methods, 'client');
  span.set('rpc.system', 'jsonrpc');
  span.set('rpc.method', methods);
  span.set('server.address', host);
  return span;
}

/** Returns the result of `work`, and ends the span when `work` has finished. The span records a failure. */
export async function endWith<T>(span: Span, work: Promise<T>): Promise<T> {
  let failure: string | undefined;
  try {
    return await work;
  } catch (error) {
    failure = error instanceof NodeError ? error.reason : 'fault';
    throw error;
  } finally {
    span.end(failure);
  }
}
