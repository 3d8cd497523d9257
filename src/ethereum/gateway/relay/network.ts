import type { NodePool } from '../../nodes/index.ts';
import type { AnswerCache } from '../cache/answerCache.ts';
import type { GatewayMetrics } from '../metrics.ts';
import type { Confirmations } from './checks/confirmations.ts';
import type { FailedRequests } from './checks/failedRequests.ts';
import type { SecondOpinions } from './checks/secondOpinions.ts';
import type { AcceptedTransaction, AcceptedTransactions } from './sending/acceptedTransactions.ts';

export interface Network {
  readonly name: string;
  readonly pool: NodePool;
  readonly cache: AnswerCache;
  readonly confirmations: Confirmations;
  /** Names of the methods whose calls are sent to several nodes. The client gets the result of the majority. */
  readonly agreementMethods: readonly string[];
  readonly failedRequests: FailedRequests;
  readonly secondOpinions: SecondOpinions;
  readonly accepted: AcceptedTransactions;
  /** Adds a transaction to `accepted` in this process, and waits until the other processes have it too. */
  readonly shareAccepted: (transaction: AcceptedTransaction) => Promise<void>;
  readonly metrics: GatewayMetrics;
  readonly maxAnswerBytes: number;
  readonly timeoutMs: number;
}
