import type { NodePool } from '../../nodes/index.ts';
import type { AnswerCache } from '../cache/answerCache.ts';
import type { GatewayMetrics } from '../metrics.ts';
import type { Confirmations } from './confirmations.ts';
import type { FailedRequests } from './failedRequests.ts';

/** What relaying to the nodes of one network needs. */
export interface Network {
  readonly name: string;
  readonly pool: NodePool;
  readonly cache: AnswerCache;
  readonly confirmations: Confirmations;
  /** Methods of which several nodes are asked, and how many. */
  readonly agreement: { readonly methods: readonly string[]; readonly nodes: number };
  readonly failedRequests: FailedRequests;
  readonly metrics: GatewayMetrics;
  readonly maxAnswerBytes: number;
  readonly timeoutMs: number;
}
