import {
  type BlockAnswers,
  blockRulesAt,
  type ChainRules,
  chargeCalls,
  FIRST_STEP,
  type FullBlock,
  type HiddenCharges,
} from '../../traces/convert/index.ts';
import type { Address } from '../../traces/index.ts';
import type { NodeCalls } from '../client/nodeClient.ts';
import { METHOD_NOT_FOUND, type NodeCall, type RpcResponse, resultOf } from '../client/rpcResponse.ts';

/** JSON-RPC error codes of nodes and providers that do not offer a method. */
const REFUSED: readonly number[] = [METHOD_NOT_FOUND, -32_602];
/** Code of an account that delegates to another (EIP-7702). */
const DELEGATION = /^0xef0100[0-9a-f]{40}$/i;
/** Number of accounts that one batch asks for. A code has at most 64 KB as text. */
const ACCOUNTS_PER_BATCH = 20;
/**
 * Maximum number of `debug_traceCall` calls for a block. For each call, a node executes the transactions before it and
 * all authorizations of the call, so the work grows with the square of their number: geth 1.17.8 needed 5 s for 200
 * transactions with one authorization each, and 21 s for 500. A block of such transactions must not occupy the node for
 * minutes.
 */
const MAX_CALLS = 256;

/** Whether a node does not offer the method of a call. */
export const isRefused = (response: RpcResponse): boolean =>
  'error' in response && REFUSED.includes(response.error.code);

interface ChargeTracing {
  readonly hidden: readonly HiddenCharges[];
  readonly rules: ChainRules;
  /** Timeout of the tracer for each call. */
  readonly timeout: string;
}

export interface RuntimeCharges {
  readonly traces: NonNullable<BlockAnswers['chargeTraces']>;
  /** Number of transactions whose charges remain hidden: the node refuses the calls, or the block needs too many. */
  readonly hidden: number;
}

/** Traces the calls that show hidden charges of the block's transactions. Rejects with NodeError. */
export async function traceRuntimeCharges(
  node: NodeCalls,
  block: FullBlock,
  { hidden, rules, timeout }: ChargeTracing,
): Promise<RuntimeCharges> {
  const { header } = block;
  const ofBlock = blockRulesAt(rules, header);
  const traces = new Map<HiddenCharges['transaction']['hash'], unknown[]>();
  let count = 0;
  const charged = await withDelegation(node, block, hidden);
  for (const { transaction, index } of charged) {
    const calls = chargeCalls(transaction, ofBlock).map(({ transaction: call, stateOverrides }): NodeCall => {
      const tracing = { ...FIRST_STEP, timeout, txIndex: `0x${index.toString(16)}`, stateOverrides };
      return ['debug_traceCall', call, { blockHash: header.hash }, tracing];
    });
    count += calls.length;
    if (count > MAX_CALLS) break;
    const answers = await node.batch(calls);
    if (answers.some(isRefused)) break;
    traces.set(
      transaction.hash,
      answers.map((answer) => resultOf('debug_traceCall', answer)),
    );
  }
  return { traces, hidden: charged.length - traces.size };
}

/** Returns the transactions without those that would have a charge only if their recipient delegated, but it does not. */
async function withDelegation(
  node: NodeCalls,
  block: FullBlock,
  hidden: readonly HiddenCharges[],
): Promise<readonly HiddenCharges[]> {
  const unsure = hidden.filter(({ onlyIfDelegated }) => onlyIfDelegated);
  const recipients = [...new Set(unsure.flatMap(({ transaction }) => transaction.to ?? []))];
  const delegated = new Set<Address | null>();
  for (let at = 0; at < recipients.length; at += ACCOUNTS_PER_BATCH) {
    const some = recipients.slice(at, at + ACCOUNTS_PER_BATCH);
    for (const recipient of await mayDelegate(node, block, some)) delegated.add(recipient);
  }
  return hidden.filter(
    ({ transaction, onlyIfDelegated }) => !onlyIfDelegated || delegated.has(transaction.to),
  );
}

/**
 * Returns the accounts that delegate their code after the parent block, or may start to delegate within the block. An
 * authorization increments the nonce of its account, like a transaction that the account sends.
 */
async function mayDelegate(
  node: NodeCalls,
  { header, transactions }: FullBlock,
  accounts: readonly Address[],
): Promise<readonly Address[]> {
  const [before, after] = [{ blockHash: header.parentHash }, { blockHash: header.hash }];
  const mayChange = transactions.some(({ authorizations }) => authorizations.length > 0);
  const calls = accounts.flatMap((account): NodeCall[] => [
    ['eth_getCode', account, before],
    ...(mayChange
      ? [before, after].map((state): NodeCall => ['eth_getTransactionCount', account, state])
      : []),
  ]);
  const answers = await node.batch(calls);
  const perAccount = calls.length / accounts.length;
  return accounts.filter((account, i) => {
    const [code, ...nonces] = answers.slice(i * perAccount, (i + 1) * perAccount);
    if (DELEGATION.test(String(resultOf('eth_getCode', code)))) return true;
    if (!mayChange) return false;
    const [nonceBefore, nonceAfter] = nonces.map((nonce) =>
      Number(resultOf('eth_getTransactionCount', nonce)),
    );
    const sent = transactions.filter(({ from }) => from === account).length;
    return Number(nonceBefore) + sent !== nonceAfter;
  });
}
