import type { Span } from '../../platform/spans/index.ts';
import { NodeError } from './nodeError.ts';

/** The span of one request to a node, with the names of what it calls: each once, as a block has many uncles. */
export function callSpan(parent: Span, host: string, calls: readonly { readonly method: string }[]): Span {
  const methods = [...new Set(calls.map(({ method }) => method))].join(' ');
  const span = parent.child(methods, 'client');
  span.set('rpc.system', 'jsonrpc');
  span.set('rpc.method', methods);
  span.set('server.address', host);
  return span;
}

/** Ends a span with what it stands for. */
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
