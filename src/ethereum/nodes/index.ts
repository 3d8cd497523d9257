/** The nodes behind: one client, their health, their heads and traces, and the checks that find a lying one out. */
export { type AnswerRoom, ArrivalRoom, NoRoomError } from './answerRoom.ts';
export { type AnswerSink, AnswerStream } from './answerStream.ts';
export { checkBlockHash } from './integrity/blockHash.ts';
export { checkBlock } from './integrity/checkBlock.ts';
export { checkReceipt } from './integrity/checkReceipt.ts';
export {
  checkTransaction,
  knowsTransactions,
  MAX_CHECKED_TRANSACTIONS,
} from './integrity/checkTransactions.ts';
export { Falsehood } from './integrity/falsehood.ts';
export { listRoot } from './integrity/listRoot.ts';
export { transactionBytes } from './integrity/transactionBytes.ts';
export { NetworkHeads } from './networkHeads.ts';
export { UpstreamNode } from './node.ts';
export { NodeClient } from './nodeClient.ts';
export { neverSent } from './nodeConnection.ts';
export { ChainMismatchError, NodePool } from './nodePool.ts';
export { NodeSource } from './nodeSource.ts';
export { probeTraces } from './probeTraces.ts';
export {
  type Answered,
  type FaultOfSize,
  OtherForkError,
  type PoolObserver,
  type Verdict,
} from './question.ts';
export { NODE_REQUEST_ID, type NodeAnswer } from './readAnswer.ts';
export { FailedRequestError, NODES_TO_FAIL_REQUEST, OversizedAnswerError } from './requestFault.ts';
export { ResultSpan } from './resultSpan.ts';
export {
  type BlockRef,
  NodeError,
  type NodeHeads,
  type TracedBlock,
  type TraceSource,
  type TransactionFinder,
} from './source.ts';
