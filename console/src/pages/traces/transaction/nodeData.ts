/** The parts of a transaction that nodes return. If a node fails, the other parts are shown. */
import type { Failure, Outcome } from '../../../api/failure.ts';
import { rpc, rpcBatch } from '../../../api/rpc.ts';
import type { BlockHeader, Receipt, Transaction } from '../types.ts';

export interface NodeData {
  readonly transaction?: Transaction | undefined;
  readonly receipt?: Receipt | undefined;
  readonly block?: BlockHeader | undefined;
  readonly missing: readonly { readonly part: string; readonly failure: Failure }[];
  readonly isSettled: boolean;
}

export const UNREAD: NodeData = { missing: [], isSettled: false };

export async function readNodeData(hash: string, network: string): Promise<NodeData> {
  const methods = ['eth_getTransactionByHash', 'eth_getTransactionReceipt'];
  const calls = methods.map((method) => ({ method, params: [hash] }));
  const [transaction, receipt] = (await rpcBatch(network, calls)) as [
    Outcome<Transaction | null>,
    Outcome<Receipt | null>,
  ];
  const blockHash = resultOf(receipt)?.blockHash ?? resultOf(transaction)?.blockHash;
  const params = [blockHash, false];
  const block = blockHash
    ? await rpc<BlockHeader | null>({ network, method: 'eth_getBlockByHash', params })
    : undefined;
  return {
    transaction: resultOf(transaction),
    receipt: resultOf(receipt),
    block: resultOf(block),
    missing: Object.entries({ transaction, receipt, block }).flatMap(([part, answer]) =>
      answer !== undefined && 'failure' in answer ? [{ part, failure: answer.failure }] : [],
    ),
    isSettled: true,
  };
}

const resultOf = <T>(answer: Outcome<T | null> | undefined): T | undefined =>
  answer !== undefined && 'value' in answer ? (answer.value ?? undefined) : undefined;
