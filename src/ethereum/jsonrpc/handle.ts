import { overLimit, RetryLaterError, RpcError } from './errors.ts';
import { type BadCall, type Body, type Call, isBadCall, parseBody, type RequestId } from './request.ts';
import {
  batchResponse,
  errorResponse,
  type Part,
  pooledResponse,
  RESULT_END,
  resultResponse,
  resultStart,
} from './response.ts';
import { isPooled, isStream, type Result, type ResultBytes, type ResultStream } from './result.ts';
import { scanUnsupported } from './scan.ts';
import { SharedTurn } from './sharedTurn.ts';
import { unsupportedResponse } from './unsupported.ts';

/** Thrown by `admit`: whether a body is admitted is not known yet. Nothing of it was carried out, and it may be looked at anew then. */
export class NotYetAdmitted {
  readonly until: Promise<void>;

  constructor(until: Promise<void>) {
    this.until = until;
  }
}

/** Carries out requests; what methods there are is not this room's business. */
export interface CallHandler {
  /** Bytes that the answers of one batch may have together. */
  readonly maxBatchBytes: number;
  /** Hears how many calls a body has before any is carried out. Throws RateLimitedError where they are too many, or NotYetAdmitted. */
  admit(calls: number): void;
  supports(method: string): boolean;
  /** Hears of a call that is refused because its method is not supported. */
  unsupported(): void;
  /** Whether carrying it out changes anything: its answer must not be refused afterwards. */
  changesState(method: string): boolean;
  /** The result as JSON; a stream or pooled bytes only where `mayStream`. Throws RpcError; anything else thrown is a fault of ours. */
  handle(call: Call, mayStream: boolean): Promise<Result> | Result;
  /** Answers are told apart by their ids alone: a refusal of all calls is given for each. Left out: one for all. */
  readonly tellsEach?: boolean;
  /** Turns what is not an RpcError into one that tells the client nothing of the inside. */
  fault(error: unknown): RpcError;
}

/** An HTTP answer: all its parts, or its beginning and end around a stream. */
export interface HttpAnswer {
  readonly status: 200 | 204 | 400 | 403 | 429 | 503;
  /** No parts: no body, for nothing was asked that wants an answer. */
  readonly parts: readonly Part[];
  /** Stands between the two parts. */
  readonly stream?: ResultStream;
  /** To be called once the parts are sent, or will not be. */
  readonly release?: () => void;
  readonly retryAfterSeconds?: number;
}

type UnsupportedCall = Pick<Call, 'id' | 'method'>;

/** Room that the answer to what changes state finds in any case: the hash of a transaction is 68 bytes. */
const STATE_CHANGE_ANSWER_BYTES = 128;
/** Entries of one batch that are carried out at the same time. */
const BATCH_CONCURRENCY = 8;
/** Entries that are answered at once hold the thread together: after so long others have their turn. */
const BATCH_TURN_MS = 3;

/**
 * Answers the body of a POST as JSON-RPC 2.0 and docs/decisions/gateway.md say; at once where nothing has to be waited for, as an
 * answer from memory costs less than the promises that it would pass through. Never throws.
 */
export function handleBody(body: Buffer, handler: CallHandler): HttpAnswer | Promise<HttpAnswer> {
  let asked: Asked | undefined;
  try {
    const refused = scanUnsupported(body, (method) => handler.supports(method));
    if (refused !== undefined) {
      asked = { isBatch: false, ids: [refused.id] };
      handler.admit(1);
      return { status: 403, parts: [unsupported(refused, handler)] };
    }
    const parsed = parseBody(body);
    asked = askedBy(parsed);
    if (parsed.kind === 'refused') {
      handler.admit(1);
      return { status: 200, parts: batchResponse(parsed.ids.map((id) => [errorResponse(id, parsed.error)])) };
    }
    handler.admit(parsed.kind === 'single' ? 1 : parsed.calls.length);
    return parsed.kind === 'single'
      ? answerSingle(parsed.call, handler)
      : answerBatch(parsed.calls, handler).catch((error: unknown) => refusedBody(error, handler));
  } catch (error) {
    if (error instanceof NotYetAdmitted) return error.until.then(() => handleBody(body, handler));
    return handler.tellsEach && asked !== undefined
      ? refusedCalls(asked, error, handler)
      : refusedBody(error, handler);
  }
}

/**
 * Answers a body that is one call of a method that is not supported, as `handleBody` would. Undefined for any other: nothing of it
 * is carried out or counted.
 */
export function refuseBody(body: Buffer, handler: CallHandler): HttpAnswer | undefined {
  try {
    const call =
      scanUnsupported(body, (method) => handler.supports(method)) ?? unsupportedCall(body, handler);
    if (call === undefined) return undefined;
    handler.admit(1);
    return { status: 403, parts: [unsupported(call, handler)] };
  } catch (error) {
    // Then it is read as any other.
    if (error instanceof NotYetAdmitted) return undefined;
    return refusedBody(error, handler);
  }
}

function unsupportedCall(body: Buffer, handler: CallHandler): UnsupportedCall | undefined {
  const parsed = bodyOf(body);
  if (parsed?.kind !== 'single' || isBadCall(parsed.call)) return undefined;
  return handler.supports(parsed.call.method) ? undefined : parsed.call;
}

/** Undefined where it is no request. */
function bodyOf(body: Buffer): Body | undefined {
  try {
    return parseBody(body);
  } catch {
    return undefined;
  }
}

/** The ids of a body's calls, undefined for those that want no answer. */
interface Asked {
  readonly isBatch: boolean;
  readonly ids: readonly (RequestId | undefined)[];
}

function askedBy(body: Body): Asked {
  if (body.kind === 'single') return { isBatch: false, ids: [body.call.id] };
  return { isBatch: true, ids: body.kind === 'refused' ? body.ids : body.calls.map(({ id }) => id) };
}

/** A refusal for each call that wants an answer. */
function refusedCalls({ isBatch, ids }: Asked, error: unknown, handler: CallHandler): HttpAnswer {
  const known = rpcErrorOf(error, handler);
  const answers = ids.filter((id) => id !== undefined).map((id) => [errorResponse(id, known)]);
  if (answers.length === 0) return NOTHING;
  return { status: 200, parts: isBatch ? batchResponse(answers) : answers.flat() };
}

function refusedBody(error: unknown, handler: CallHandler): HttpAnswer {
  const known = rpcErrorOf(error, handler);
  const parts = [errorResponse(null, known)];
  if (!(known instanceof RetryLaterError)) return { status: statusOf(known), parts };
  return { status: known.status, parts, retryAfterSeconds: known.retryAfterSeconds };
}

function answerSingle(call: Call | BadCall, handler: CallHandler): HttpAnswer | Promise<HttpAnswer> {
  const id = call.id ?? null;
  if (isBadCall(call)) return { status: statusOf(call.error), parts: [errorResponse(id, call.error)] };
  if (!handler.supports(call.method)) return { status: 403, parts: [unsupported(call, handler)] };
  const wanted = call.id !== undefined;
  const failed = (error: unknown): HttpAnswer => {
    if (!wanted) return NOTHING;
    const known = rpcErrorOf(error, handler);
    const parts = [errorResponse(id, known)];
    if (!(known instanceof RetryLaterError)) return { status: 200, parts };
    return { status: known.status, parts, retryAfterSeconds: known.retryAfterSeconds };
  };
  try {
    const result = handler.handle(call, wanted);
    if (result instanceof Promise) return result.then((known) => answered(id, known, wanted)).catch(failed);
    return answered(id, result, wanted);
  } catch (error) {
    return failed(error);
  }
}

function answered(id: RequestId, result: Result, wanted: boolean): HttpAnswer {
  if (isStream(result)) return { status: 200, parts: [resultStart(id), RESULT_END], stream: result };
  if (isPooled(result))
    return { status: 200, parts: pooledResponse(id, result), release: () => result.release() };
  return wanted ? { status: 200, parts: resultResponse(id, result) } : NOTHING;
}

const NOTHING: HttpAnswer = { status: 204, parts: [] };

/** Room for the answers of one batch. */
interface BatchRoom {
  readonly maxBytes: number;
  /** What is left of it. */
  bytes: number;
}

async function answerBatch(calls: readonly (Call | BadCall)[], handler: CallHandler): Promise<HttpAnswer> {
  const answers: (readonly Part[])[] = new Array(calls.length);
  const room = { maxBytes: handler.maxBatchBytes, bytes: handler.maxBatchBytes };
  let next = 0;
  const turn = new SharedTurn(BATCH_TURN_MS);
  const work = async (): Promise<void> => {
    for (let i = next++; i < calls.length; i = next++) {
      while (turn.isOver) await turn.next();
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
  const first = calls.find((call) => !isBadCall(call)) as Call | undefined; // its kind was just looked at
  return noneSupported && first !== undefined
    ? { status, parts: [unsupportedResponse(null, first.method)] }
    : NOTHING;
}

async function answerEntry(
  call: Call | BadCall,
  handler: CallHandler,
  room: BatchRoom,
): Promise<readonly Part[]> {
  const id = call.id ?? null;
  try {
    if (isBadCall(call)) throw call.error;
    if (!handler.supports(call.method)) return [unsupported(call, handler)];
    if (!handler.changesState(call.method)) return entryOf(id, await handler.handle(call, false), room);
    if (room.bytes < STATE_CHANGE_ANSWER_BYTES) throw overBatch(room, STATE_CHANGE_ANSWER_BYTES);
    room.bytes -= STATE_CHANGE_ANSWER_BYTES;
    return resultResponse(id, bytesOf(await handler.handle(call, false)));
  } catch (error) {
    return [errorResponse(id, rpcErrorOf(error, handler))];
  }
}

function entryOf(id: RequestId, result: Result, room: BatchRoom): readonly Part[] {
  const bytes = bytesOf(result);
  if (bytes.length > room.bytes) throw overBatch(room, bytes.length);
  room.bytes -= bytes.length;
  return resultResponse(id, bytes);
}

function bytesOf(result: Result): ResultBytes {
  if (isStream(result) || isPooled(result))
    throw new Error('a handler gave a stream or pooled bytes for an entry of a batch');
  return result;
}

const overBatch = (room: BatchRoom, bytes: number): RpcError =>
  overLimit('bytes of the answers of a batch', room.maxBytes, room.maxBytes - room.bytes + bytes);

const rpcErrorOf = (error: unknown, handler: CallHandler): RpcError =>
  error instanceof RpcError ? error : handler.fault(error);

function unsupported({ id, method }: UnsupportedCall, handler: CallHandler): string {
  handler.unsupported();
  return unsupportedResponse(id ?? null, method);
}

/** A body that is no request is the sender's HTTP error too; every other error is an answer. */
const statusOf = ({ code }: RpcError): 200 | 400 => (code === -32700 || code === -32600 ? 400 : 200);
