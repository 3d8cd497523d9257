import { overLimit, RateLimitedError, RpcError } from './errors.ts';
import { type BadCall, type Call, isBadCall, type RequestId, readBody } from './request.ts';
import { batchResponse, errorResponse, RESULT_END, resultResponse, resultStart } from './response.ts';
import { isLent, isStream, type Result, type ResultBytes, type ResultStream } from './result.ts';

/** Carries out requests; what methods there are is not this room's business. */
export interface CallHandler {
  /** Bytes that the answers of one batch may have together. */
  readonly maxBatchBytes: number;
  /** Hears how many calls a body has before any is carried out. Throws RateLimitedError where they are too many. */
  admit(calls: number): void;
  supports(method: string): boolean;
  /** The result as JSON; a stream or lent bytes only where `mayStream`. Throws RpcError; anything else thrown is a fault of ours. */
  handle(call: Call, mayStream: boolean): Promise<Result> | Result;
  /** Turns what is not an RpcError into one that tells the client nothing of the inside. */
  fault(error: unknown): RpcError;
}

/** An HTTP answer: all its bytes, or its beginning and end around a stream. */
export interface HttpAnswer {
  readonly status: 200 | 204 | 400 | 403 | 429;
  /** No parts: no body, for nothing was asked that wants an answer. */
  readonly parts: readonly Uint8Array[];
  /** Stands between the two parts. */
  readonly stream?: ResultStream;
  /** To be called once the parts are sent, or will not be. */
  readonly release?: () => void;
  readonly retryAfterSeconds?: number;
}

/** Entries of one batch that are carried out at the same time. */
const BATCH_CONCURRENCY = 8;

/** Answers the body of a POST as JSON-RPC 2.0 and decisions.md B say. Never throws. */
export async function handleBody(body: Uint8Array, handler: CallHandler): Promise<HttpAnswer> {
  try {
    const parsed = readBody(body);
    handler.admit(parsed.kind === 'single' ? 1 : parsed.calls.length);
    return parsed.kind === 'single'
      ? await answerSingle(parsed.call, handler)
      : await answerBatch(parsed.calls, handler);
  } catch (error) {
    const known = rpcErrorOf(error, handler);
    const parts = [errorResponse(null, known)];
    if (!(known instanceof RateLimitedError)) return { status: statusOf(known), parts };
    return { status: 429, parts, retryAfterSeconds: known.retryAfterSeconds };
  }
}

async function answerSingle(call: Call | BadCall, handler: CallHandler): Promise<HttpAnswer> {
  const id = call.id ?? null;
  if (isBadCall(call)) return { status: statusOf(call.error), parts: [errorResponse(id, call.error)] };
  if (!handler.supports(call.method)) return { status: 403, parts: [errorResponse(id, unsupported())] };
  const wanted = call.id !== undefined;
  try {
    const result = await handler.handle(call, wanted);
    if (isStream(result)) return { status: 200, parts: [resultStart(id), RESULT_END], stream: result };
    if (isLent(result))
      return { status: 200, parts: resultResponse(id, result.bytes), release: () => result.release() };
    return wanted ? { status: 200, parts: resultResponse(id, result) } : NOTHING;
  } catch (error) {
    return wanted ? { status: 200, parts: [errorResponse(id, rpcErrorOf(error, handler))] } : NOTHING;
  }
}

const NOTHING: HttpAnswer = { status: 204, parts: [] };

async function answerBatch(calls: readonly (Call | BadCall)[], handler: CallHandler): Promise<HttpAnswer> {
  const answers: (readonly Uint8Array[])[] = new Array(calls.length);
  const room = { bytes: handler.maxBatchBytes };
  let next = 0;
  const work = async (): Promise<void> => {
    for (let i = next++; i < calls.length; i = next++) {
      const call = calls[i];
      if (call !== undefined) answers[i] = await answerEntry(call, handler, room);
    }
  };
  await Promise.all(Array.from({ length: Math.min(BATCH_CONCURRENCY, calls.length) }, work));

  const refused = calls.filter((call) => !isBadCall(call) && !handler.supports(call.method)).length;
  const noneSupported =
    refused > 0 && calls.every((call) => isBadCall(call) || !handler.supports(call.method));
  const status = noneSupported ? 403 : 200;
  const wanted = answers.filter((_, i) => calls[i]?.id !== undefined);
  if (wanted.length > 0) return { status, parts: batchResponse(wanted) };
  return noneSupported ? { status, parts: [errorResponse(null, unsupported())] } : NOTHING;
}

async function answerEntry(
  call: Call | BadCall,
  handler: CallHandler,
  room: { bytes: number },
): Promise<readonly Uint8Array[]> {
  const id = call.id ?? null;
  try {
    if (isBadCall(call)) throw call.error;
    if (!handler.supports(call.method)) throw unsupported();
    return entryOf(id, await handler.handle(call, false), handler.maxBatchBytes, room);
  } catch (error) {
    return [errorResponse(id, rpcErrorOf(error, handler))];
  }
}

function entryOf(
  id: RequestId,
  result: Result,
  maxBatchBytes: number,
  room: { bytes: number },
): readonly Uint8Array[] {
  if (isStream(result) || isLent(result))
    throw new Error('a handler gave a stream or lent bytes for an entry of a batch');
  if (result.length > room.bytes)
    throw overLimit(
      'bytes of the answers of a batch',
      maxBatchBytes,
      maxBatchBytes - room.bytes + result.length,
    );
  room.bytes -= result.length;
  return resultResponse(id, result satisfies ResultBytes);
}

const rpcErrorOf = (error: unknown, handler: CallHandler): RpcError =>
  error instanceof RpcError ? error : handler.fault(error);

const unsupported = (): RpcError =>
  new RpcError(
    'methodNotFound',
    'the gateway does not support this method; docs/gateway.md lists those that it does',
  );

/** A body that is no request is the sender's HTTP error too; every other error is an answer. */
const statusOf = ({ code }: RpcError): 200 | 400 => (code === -32700 || code === -32600 ? 400 : 200);
