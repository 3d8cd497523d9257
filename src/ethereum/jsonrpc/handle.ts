import { answerBatch } from './batch.ts';
import { type CallHandler, NotYetAdmitted, rpcErrorOf } from './callHandler.ts';
import { RetryLaterError, type RpcError } from './errors.ts';
import { badRequestAnswer, errorAnswer, type HttpAnswer, NO_CONTENT } from './httpAnswer.ts';
import { type Body, parseBody } from './request.ts';
import { batchResponse, errorResponse } from './response.ts';
import { answerSingle } from './single.ts';

/**
 * Handles a POST body as specified by JSON-RPC 2.0 and docs/internals/decisions/gateway.md. Returns a promise only if
 * a call is asynchronous, because a promise takes more time than a result from memory. Never throws or rejects.
 */
export function handleBody(body: Buffer, handler: CallHandler): HttpAnswer | Promise<HttpAnswer> {
  let parsed: Body;
  try {
    parsed = parseBody(body);
  } catch (error) {
    return badRequestAnswer(null, rpcErrorOf(error, handler));
  }
  return answerParsed(parsed, handler);
}

function answerParsed(body: Body, handler: CallHandler): HttpAnswer | Promise<HttpAnswer> {
  try {
    handler.admit(body.kind === 'batch' ? body.calls.length : 1);
  } catch (error) {
    if (error instanceof NotYetAdmitted) return error.until.then(() => answerParsed(body, handler));
    const known = rpcErrorOf(error, handler);
    return handler.errorPerCall ? errorForEach(body, known) : errorAnswer(null, known);
  }
  if (body.kind === 'single') return answerSingle(body.call, handler);
  if (body.kind === 'batch') return answerBatch(body.calls, handler);
  return errorForEach(body, body.error);
}

/** Returns the same error for each call of a request body, except for notifications, which get no response. */
function errorForEach(body: Body, error: RpcError): HttpAnswer {
  if (body.kind === 'single')
    return body.call.id === undefined ? NO_CONTENT : errorAnswer(body.call.id, error);
  const ids = body.kind === 'batch' ? body.calls.map(({ id }) => id) : body.ids;
  const errors = ids.filter((id) => id !== undefined).map((id) => [errorResponse(id, error)]);
  if (errors.length === 0) return NO_CONTENT;
  return { status: error instanceof RetryLaterError ? error.status : 200, parts: batchResponse(errors) };
}
