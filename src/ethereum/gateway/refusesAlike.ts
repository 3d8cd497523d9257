import type { RefusalAnswer, RefuseBody } from '../../platform/http/index.ts';
import { errorResponse, type HttpAnswer, refuseBody } from '../jsonrpc/index.ts';
import type { Permit, Refusal } from './admissionControl.ts';
import type { CallsHandler } from './callsHandler.ts';
import type { HttpExchange } from './httpExchange.ts';

export interface RefusesAlikeOptions {
  /** Admits a request with the same head; undefined where it is not the time to. */
  readonly enter: () => Permit | Refusal | undefined;
  readonly handler: (permit: Permit) => CallsHandler;
}

/**
 * What refuses calls of unsupported methods in requests with the same head: each is admitted or not, counted and answered as if
 * it had come alone. Undefined where their bodies are not to be read as they are.
 */
export function refusesAlike(
  exchange: HttpExchange,
  { enter, handler }: RefusesAlikeOptions,
): RefuseBody | undefined {
  if (exchange.isCompressed) return undefined;
  const headers = exchange.originHeaders();
  return (body) => {
    const permit = enter();
    if (permit === undefined) return undefined;
    if ('refusal' in permit) {
      const { status, refusal } = permit;
      return { status, headers: [...headers, ...permit.headers], body: errorResponse(null, refusal) };
    }
    const answer = refuseBody(body, handler(permit));
    permit.release();
    return answer && refusalAnswer(answer, headers);
  };
}

function refusalAnswer(
  { status, parts, retryAfterSeconds }: HttpAnswer,
  headers: readonly string[],
): RefusalAnswer {
  const retryAfter =
    retryAfterSeconds === undefined ? [] : ['retry-after', String(Math.ceil(retryAfterSeconds))];
  return { status, headers: [...headers, ...retryAfter], body: parts.join('') };
}
