import { RateLimitedError } from '../../jsonrpc/index.ts';
import { BudgetExceededError, FailedRequestError, NodeError, ResponseQuotaError } from '../../nodes/index.ts';
import { memoryLimitError } from '../http/memoryLimitError.ts';
import { clientErrorOf } from './clientErrorOf.ts';
import type { Network } from './network.ts';
import { NoResponseError } from './noResponseError.ts';

/** Returns the error for the client after a request to nodes failed. Other errors than NodeError are returned as is. */
export function relayErrorOf(error: unknown, { metrics }: Pick<Network, 'metrics'>): unknown {
  if (error instanceof ResponseQuotaError) return memoryLimitError();
  if (error instanceof FailedRequestError) return clientErrorOf(error);
  if (error instanceof BudgetExceededError) {
    metrics.limited('node_budget');
    const seconds = Math.max(1, Math.ceil(error.retryAfterMs / 1_000));
    return new RateLimitedError('the call budget of the nodes is used up; try again', seconds);
  }
  return error instanceof NodeError ? new NoResponseError(error) : error;
}
