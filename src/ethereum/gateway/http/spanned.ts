import type { Span } from '../../../platform/spans/index.ts';
import { type Result, RpcError } from '../../jsonrpc/index.ts';
import type { CallContext } from '../method.ts';

/** Runs a call inside its tracing span, and records the source of the result in the span. */
export function spanned(
  span: Span,
  context: CallContext,
  call: () => Promise<Result> | Result,
): Promise<Result> | Result {
  context.span = span;
  const answered = (result: Result): Result => {
    if (context.cache !== undefined) span.set('floodgate.cache', context.cache);
    span.end();
    return result;
  };
  const failed = (error: unknown): never => {
    // An RpcError, such as a reverted call, is a regular response, so the span does not count as failed.
    if (error instanceof RpcError) span.set('rpc.jsonrpc.error_code', error.code);
    span.end(error instanceof RpcError ? undefined : 'fault');
    throw error;
  };
  try {
    const result = call();
    return result instanceof Promise ? result.then(answered, failed) : answered(result);
  } catch (error) {
    return failed(error);
  }
}
