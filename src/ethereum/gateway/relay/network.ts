import type { NodePool } from '../../nodes/index.ts';
import type { AnswerCache } from '../cache/answerCache.ts';
import type { GatewayMetrics } from '../metrics.ts';
import type { FailedRequests } from './failedRequests.ts';

/** What relaying to the nodes of one network needs. */
export interface Network {
  readonly name: string;
  readonly pool: NodePool;
  readonly cache: AnswerCache;
  readonly failedRequests: FailedRequests;
  readonly metrics: GatewayMetrics;
  readonly maxAnswerBytes: number;
  readonly timeoutMs: number;
}
