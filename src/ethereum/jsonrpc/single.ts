import { type CallHandler, rpcErrorOf } from './callHandler.ts';
import { badRequestAnswer, errorAnswer, type HttpAnswer, NO_CONTENT } from './httpAnswer.ts';
import { type BadCall, type Call, isBadCall } from './request.ts';
import { pooledResponse, RESULT_END, resultResponse, resultStart } from './response.ts';
import { isPooled, isStream, type Result } from './result.ts';
import { unsupportedResponse } from './unsupported.ts';

export function answerSingle(call: Call | BadCall, handler: CallHandler): HttpAnswer | Promise<HttpAnswer> {
  if (isBadCall(call)) return badRequestAnswer(call.id, call.error);
  const { id, method } = call;
  const failed = (error: unknown): HttpAnswer => {
    const known = rpcErrorOf(error, handler);
    return id === undefined ? NO_CONTENT : errorAnswer(id, known);
  };
  try {
    if (!handler.supports(method)) {
      handler.unsupported();
      return { status: 403, parts: [unsupportedResponse(id ?? null, method)] };
    }
    const result = handler.handle(call, id !== undefined);
    if (!(result instanceof Promise)) return resultAnswer(call, result);
    return result.then((known) => resultAnswer(call, known)).catch(failed);
  } catch (error) {
    return failed(error);
  }
}

function resultAnswer({ id }: Call, result: Result): HttpAnswer {
  if (id === undefined) return NO_CONTENT;
  if (isStream(result)) return { status: 200, parts: [resultStart(id), RESULT_END], stream: result };
  if (isPooled(result))
    return { status: 200, parts: pooledResponse(id, result), release: () => result.release() };
  return { status: 200, parts: resultResponse(id, result) };
}
