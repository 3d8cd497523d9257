/**
 * The nodes behind, for relay and ingest alike: one client, one health, one head and one chain check of each, and the checks
 * that find out a node whose answers cannot be true.
 */
export { type AnswerRoom, ArrivalRoom, NoRoomError } from './answerRoom.ts';
export { type AnswerSink, AnswerStream } from './answerStream.ts';
export { endWith } from './callSpan.ts';
export { ChainMismatchError } from './chainCheck.ts';
export { neverSent } from './connectionError.ts';
export { FailedRequestError, NODES_TO_FAIL_REQUEST } from './failedRequest.ts';
export { BudgetExceededError } from './fairTurns.ts';
export { defaultFinality, type Finality, finalNumber } from './finality.ts';
export type { Health } from './health.ts';
export { checkBlockHash } from './integrity/blockHash.ts';
export { bloomOf, isWithin } from './integrity/bloom.ts';
export { checkBlock } from './integrity/checkBlock.ts';
export { checkReceipt } from './integrity/checkReceipt.ts';
export {
  checkTransaction,
  knowsTransactions,
  MAX_CHECKED_TRANSACTIONS,
} from './integrity/checkTransactions.ts';
export { InvalidResponseError } from './integrity/invalidResponseError.ts';
export { listRoot } from './integrity/listRoot.ts';
export { transactionBytes } from './integrity/transactionBytes.ts';
export { NetworkHeads } from './networkHeads.ts';
export { type Budget, NodeBudget, type NodeLimits, type Urgency } from './nodeBudget.ts';
export { NodeClient } from './nodeClient.ts';
export { NodeError, OtherForkError } from './nodeError.ts';
export type { BlockRef, HeadBlock, NodeHeads } from './nodeHeads.ts';
export { type NodeOptions, NodePool } from './nodePool.ts';
export { NodeTraces } from './nodeTraces.ts';
export type { PoolObserver } from './poolObserver.ts';
export type { PoolState, SetAside } from './poolState.ts';
export { probeTraceMethods } from './probeTraceMethods.ts';
export { NODE_REQUEST_ID, type UpstreamResponse } from './readResponse.ts';
export { OversizedAnswerError, SlowRequestError } from './requestFault.ts';
export { ResultSpan } from './resultSpan.ts';
export type { TracedBlock, TraceProvider, TransactionFinder } from './traceProvider.ts';
export { UpstreamNode } from './upstreamNode.ts';
export type {
  FaultOfSize,
  HedgedResponse,
  ResponseClass,
  StreamedResponse,
  WholeResponse,
} from './upstreamRequest.ts';
