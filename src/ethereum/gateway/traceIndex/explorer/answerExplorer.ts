import { retryAfter } from '../../../../platform/http/index.ts';
import { type HttpAnswer, RetryLaterError, RpcError } from '../../../jsonrpc/index.ts';
import { admitOne } from '../../http/admitOne.ts';
import type { CallsHandler } from '../../http/callsHandler.ts';
import type { HttpExchange } from '../../http/httpExchange.ts';
import { BLOCK_BY_TIME_METHOD } from './blockByTime.ts';
import { EXPLORER_METHOD } from './explorerMethod.ts';
import { isBlockByTime } from './params.ts';

/**
 * Responds to `GET /v1/{network}/api` (Etherscan format). Each request counts as one call. If the query is wrong, the
 * HTTP status is 200, as in block explorers. For other errors, it is the same as for JSON-RPC.
 */
export async function answerExplorer(
  exchange: HttpExchange,
  handler: CallsHandler,
  query: string,
): Promise<void> {
  try {
    await admitOne(handler);
    if (!handler.isPathAllowed(EXPLORER_METHOD)) {
      const refusal = new RpcError(
        'methodNotFound',
        'Error! Missing Or invalid Action name: this API is not served here',
      );
      return exchange.send(403, refusal);
    }
    const params = new URLSearchParams(query);
    const method = isBlockByTime(params) ? BLOCK_BY_TIME_METHOD : EXPLORER_METHOD;
    const call = { id: null, method, params: [params] };
    const result = await handler.handle(call, false);
    const answer: HttpAnswer = { status: 200, parts: [result as Buffer] }; // the handler of the explorer method returns a Buffer
    exchange.answer(answer, handler.context);
  } catch (error) {
    // The client has disconnected, so no response is needed.
    if (exchange.response.isFinished) return;
    if (error instanceof RetryLaterError)
      return exchange.send(error.status, error, 'retry-after', retryAfter(error.retryAfterSeconds));
    if (error instanceof RpcError) return exchange.send(200, error);
    exchange.send(500, handler.fault(error));
  }
}
