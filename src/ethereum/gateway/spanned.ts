import type { Span } from '../../platform/spans/index.ts';
import { type Result, RpcError } from '../jsonrpc/index.ts';
import type { CallContext } from './method.ts';

/** Carries out a call as a part of its span, which ends with it and tells where the answer came from. */
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
    // That a request is refused, or a call reverts, is an answer.
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
