import { type CallHandler, rpcErrorOf } from './callHandler.ts';
import { overLimit } from './errors.ts';
import { type HttpAnswer, NO_CONTENT } from './httpAnswer.ts';
import { type BadCall, type Call, isBadCall } from './request.ts';
import { batchResponse, errorResponse, type Part, resultResponse } from './response.ts';
import { isPooled, isStream, type Result, type ResultBytes } from './result.ts';
import { unsupportedResponse } from './unsupported.ts';

/** Bytes reserved before a call that changes state, whose response must not be rejected. A hash takes 68 bytes. */
const STATE_CHANGE_ANSWER_BYTES = 128;
const CONCURRENCY = 8;

interface Entry {
  readonly outcome: 'bad request' | 'unsupported' | 'carried out';
  readonly parts: readonly Part[];
}

export async function answerBatch(
  calls: readonly (Call | BadCall)[],
  handler: CallHandler,
): Promise<HttpAnswer> {
  const entries: Entry[] = new Array(calls.length);
  const budget = new AnswerBudget(handler.maxBatchBytes);
  const remaining = calls.entries();
  const work = async (): Promise<void> => {
    for (const [i, call] of remaining) entries[i] = await answerEntry(call, handler, budget);
  };
  await Promise.all(Array.from({ length: Math.min(CONCURRENCY, calls.length) }, work));
  return joined(calls, entries);
}

/** Joins the responses to the calls of a batch. The HTTP status is 403 if no valid call has a supported method. */
function joined(calls: readonly (Call | BadCall)[], entries: readonly Entry[]): HttpAnswer {
  const unsupported = entries.findIndex(({ outcome }) => outcome === 'unsupported');
  const isRejected = unsupported !== -1 && entries.every(({ outcome }) => outcome !== 'carried out');
  const status = isRejected ? 403 : 200;
  const wanted = entries.filter((_, i) => calls[i]?.id !== undefined);
  if (wanted.length > 0) return { status, parts: batchResponse(wanted.map(({ parts }) => parts)) };
  return isRejected ? { status, parts: entries[unsupported]?.parts ?? [] } : NO_CONTENT;
}

async function answerEntry(call: Call | BadCall, handler: CallHandler, budget: AnswerBudget): Promise<Entry> {
  const id = call.id ?? null;
  if (isBadCall(call)) return { outcome: 'bad request', parts: [errorResponse(id, call.error)] };
  try {
    if (!handler.supports(call.method)) {
      handler.unsupported();
      return { outcome: 'unsupported', parts: [unsupportedResponse(id, call.method)] };
    }
    const isStateChange = handler.changesState(call.method);
    if (isStateChange) budget.take(STATE_CHANGE_ANSWER_BYTES);
    const bytes = bytesOf(await handler.inTurn(() => handler.handle(call, false)));
    if (!isStateChange) budget.take(bytes.length);
    return { outcome: 'carried out', parts: resultResponse(id, bytes) };
  } catch (error) {
    return { outcome: 'carried out', parts: [errorResponse(id, rpcErrorOf(error, handler))] };
  }
}

function bytesOf(result: Result): ResultBytes {
  if (isStream(result) || isPooled(result))
    throw new Error('a handler returned a stream or pooled bytes for an entry of a batch');
  return result;
}

class AnswerBudget {
  readonly #maxBytes: number;
  #usedBytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Reserves bytes for a response. Throws RpcError if the responses together would exceed the limit. */
  take(bytes: number): void {
    const used = this.#usedBytes + bytes;
    if (used > this.#maxBytes) throw overLimit('bytes of the answers of a batch', this.#maxBytes, used);
    this.#usedBytes = used;
  }
}
