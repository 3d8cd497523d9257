/** Upstream nodes, which relay and ingest share: clients, health, heads, and checks of chains and responses. */

export { endWith } from './client/callSpan.ts';
export { neverSent } from './client/connectionError.ts';
export { FailedRequestError, NODES_TO_FAIL_REQUEST } from './client/failedRequest.ts';
export {
  LeasedNodeBudget,
  leaseFromNode,
  type NodeLease,
  type WantedNodeLease,
} from './client/leasedNodeBudget.ts';
export { type Budget, NodeBudget, type NodeLimits } from './client/nodeBudget.ts';
export { CONNECTIONS_PER_NODE, NodeClient } from './client/nodeClient.ts';
export { NodeError, OtherForkError } from './client/nodeError.ts';
export { NODE_REQUEST_ID, type UpstreamResponse } from './client/readResponse.ts';
export { OversizedResponseError, SlowRequestError } from './client/requestFault.ts';
export {
  ReceiveReservation,
  type ResponseQuota,
  ResponseQuotaError,
} from './client/responseQuota.ts';
export { type ResponseSink, ResponseStream } from './client/responseStream.ts';
export { ResultSpan } from './client/resultSpan.ts';
export type {
  HedgedResponse,
  OversizeBlame,
  ResponseClass,
  StreamedResponse,
  UpstreamRequest,
  WholeResponse,
} from './client/upstreamRequest.ts';
export { BudgetExceededError } from './dispatch/fairQueue.ts';
export {
  SlowTraceError,
  TraceSlotsError,
} from './dispatch/traceRequests.ts';
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
export { JsonReader } from './largeResponses/jsonReader.ts';
export { ResponseMemory } from './largeResponses/responseMemory.ts';
export type { IndexTraceLimits } from './largeResponses/traceLimits.ts';
export { ChainMismatchError } from './pool/chainCheck.ts';
export { defaultFinality, type Finality, finalNumber } from './pool/finality.ts';
export type { Health } from './pool/health.ts';
export { NetworkHeads } from './pool/networkHeads.ts';
export {
  type BlockRef,
  type HeadBlock,
  type HeaderMembers,
  headerOf,
  type NodeHeads,
} from './pool/nodeHeads.ts';
export { type NodeOptions, NodePool, type RemotePolls } from './pool/nodePool.ts';
export type { PoolObserver } from './pool/poolObserver.ts';
export type { NodeRemoval, PoolState } from './pool/poolState.ts';
export { TRACE_SLOTS, UpstreamNode } from './pool/upstreamNode.ts';
export { NodeTraces } from './tracing/nodeTraces.ts';
export { probeGasCalls } from './tracing/probeGasCalls.ts';
export { probeTraceMethods } from './tracing/probeTraceMethods.ts';
export { BlockTraceError } from './tracing/traceFailure.ts';
export type {
  BlockFinder,
  BlockSource,
  TracedBlock,
  TraceProvider,
  TransactionFinder,
} from './tracing/traceProvider.ts';
