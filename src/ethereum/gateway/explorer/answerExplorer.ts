import { type HttpAnswer, RetryLaterError, RpcError } from '../../jsonrpc/index.ts';
import { admitOne } from '../admitOne.ts';
import type { CallsHandler } from '../callsHandler.ts';
import type { HttpExchange } from '../httpExchange.ts';
import { EXPLORER_METHOD } from './explorerMethod.ts';

/**
 * Answers `GET /v1/{network}/api`, which counts as one call. What is wrong with a question is told with HTTP status 200, as explorers do;
 * what has nothing to do with it with the gateway's status.
 */
export async function answerExplorer(
  exchange: HttpExchange,
  handler: CallsHandler,
  query: string,
): Promise<void> {
  try {
    await admitOne(handler);
    if (!handler.mayAsk(EXPLORER_METHOD)) {
      const refusal = new RpcError(
        'methodNotFound',
        'Error! Missing Or invalid Action name: nothing is served here',
      );
      return exchange.send(403, refusal);
    }
    const call = { id: null, method: EXPLORER_METHOD, params: [new URLSearchParams(query)] };
    const result = await handler.handle(call, false);
    const answer: HttpAnswer = { status: 200, parts: [result as Buffer] }; // that is what its handler gives
    exchange.answer(answer, handler.context);
  } catch (error) {
    // Nobody is there to read it.
    if (exchange.response.isOver) return;
    if (error instanceof RetryLaterError)
      return exchange.send(error.status, error, 'retry-after', String(Math.ceil(error.retryAfterSeconds)));
    if (error instanceof RpcError) return exchange.send(200, error);
    exchange.send(500, handler.fault(error));
  }
}
