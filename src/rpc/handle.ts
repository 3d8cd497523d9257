import { RpcError } from './errors.ts';
import { type BadCall, type Call, isBadCall, readBody } from './request.ts';
import { batchResponse, errorResponse, type ResultBytes, resultResponse } from './response.ts';

/** Carries out requests; what methods there are is not this room's business. */
export interface CallHandler {
  supports(method: string): boolean;
  /** The result as JSON bytes. Throws RpcError; anything else thrown is a fault of ours. */
  handle(call: Call): Promise<ResultBytes> | ResultBytes;
  /** Turns what is not an RpcError into one that tells the client nothing of the inside. */
  fault(error: unknown): RpcError;
}

/** An HTTP answer. No parts: no body, for nothing was asked that wants an answer. */
export interface HttpAnswer {
  readonly status: 200 | 204 | 400 | 403;
  readonly parts: readonly Uint8Array[];
}

/** Entries of one batch that are carried out at the same time. */
const BATCH_CONCURRENCY = 8;

/** Answers the body of a POST as JSON-RPC 2.0 and decisions.md B say. Never throws. */
export async function handleBody(body: Uint8Array, handler: CallHandler): Promise<HttpAnswer> {
  try {
    const parsed = readBody(body);
    return parsed.kind === 'single'
      ? await answerSingle(parsed.call, handler)
      : await answerBatch(parsed.calls, handler);
  } catch (error) {
    const known = error instanceof RpcError ? error : handler.fault(error);
    return { status: statusOf(known), parts: [errorResponse(null, known)] };
  }
}

async function answerSingle(call: Call | BadCall, handler: CallHandler): Promise<HttpAnswer> {
  const id = call.id ?? null;
  if (isBadCall(call)) return { status: statusOf(call.error), parts: [errorResponse(id, call.error)] };
  if (!handler.supports(call.method)) return { status: 403, parts: [errorResponse(id, unsupported())] };
  const parts = await answerCall(call, handler);
  return call.id === undefined ? { status: 204, parts: [] } : { status: 200, parts };
}

async function answerBatch(calls: readonly (Call | BadCall)[], handler: CallHandler): Promise<HttpAnswer> {
  const answers: (readonly Uint8Array[])[] = new Array(calls.length);
  let next = 0;
  const work = async (): Promise<void> => {
    for (let i = next++; i < calls.length; i = next++) {
      const call = calls[i];
      if (call !== undefined) answers[i] = await answerCall(call, handler);
    }
  };
  await Promise.all(Array.from({ length: BATCH_CONCURRENCY }, work));

  const refused = calls.filter((call) => !isBadCall(call) && !handler.supports(call.method)).length;
  const noneSupported =
    refused > 0 && calls.every((call) => isBadCall(call) || !handler.supports(call.method));
  const status = noneSupported ? 403 : 200;
  const wanted = answers.filter((_, i) => calls[i]?.id !== undefined);
  if (wanted.length > 0) return { status, parts: batchResponse(wanted) };
  return noneSupported ? { status, parts: [errorResponse(null, unsupported())] } : { status: 204, parts: [] };
}

async function answerCall(call: Call | BadCall, handler: CallHandler): Promise<readonly Uint8Array[]> {
  const id = call.id ?? null;
  try {
    if (isBadCall(call)) throw call.error;
    if (!handler.supports(call.method)) throw unsupported();
    return resultResponse(id, await handler.handle(call));
  } catch (error) {
    return [errorResponse(id, error instanceof RpcError ? error : handler.fault(error))];
  }
}

const unsupported = (): RpcError =>
  new RpcError(
    'methodNotFound',
    'the gateway does not support this method; docs/gateway.md lists those that it does',
  );

/** A body that is no request is the sender's HTTP error too; every other error is an answer. */
const statusOf = ({ code }: RpcError): 200 | 400 => (code === -32700 || code === -32600 ? 400 : 200);
