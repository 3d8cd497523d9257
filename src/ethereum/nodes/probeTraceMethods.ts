import {
  chooseTraceMethod,
  type ProbeResponse,
  type ProbeResponses,
  type TraceMethodChoice,
} from '../traces/convert/index.ts';
import type { NodeClient } from './nodeClient.ts';
import { NodeError } from './nodeError.ts';
import { resultOf } from './rpcResponse.ts';
import { traceByTracer } from './traceByTracer.ts';

/** A block without transactions proves nothing: so many blocks below the head are looked through for one that has some. */
const MAX_BLOCKS_LOOKED_AT = 16;

export interface ProbeOptions {
  /** Try every method, also those behind the first that works: for whoever wants to know all. */
  readonly all?: boolean;
}

/**
 * Asks a node by which methods it gives traces, on its newest block that has transactions. Rejects with NodeError where it
 * cannot be asked; what it answers with an error is a response.
 */
export async function probeTraceMethods(
  node: NodeClient,
  { all = false }: ProbeOptions = {},
): Promise<TraceMethodChoice> {
  const block = await testBlock(node);
  const asks: ReadonlyArray<readonly [keyof ProbeResponses, () => Promise<ProbeResponse>]> = [
    ['traceBlock', () => observe(node, 'trace_block', block.number)],
    ['callTracer', () => traceByTracer(node, block, 'callTracer')],
    ['flatCallTracer', () => traceByTracer(node, block, 'flatCallTracer')],
  ];
  let responses: ProbeResponses = {};
  for (const [method, ask] of asks) {
    responses = { ...responses, [method]: await ask() };
    if (!all && chooseTraceMethod(responses).method !== 'none') break;
  }
  return chooseTraceMethod(responses);
}

async function observe(node: NodeClient, method: string, ...params: unknown[]): Promise<ProbeResponse> {
  const [answer] = await node.batch([[method, ...params]]);
  return answer ?? { error: { message: 'no answer' } };
}

async function testBlock(node: NodeClient): Promise<{ number: string; hash: string }> {
  const latest = readBlock(node, await node.call('eth_getBlockByNumber', 'latest', false));
  let block = latest;
  for (let back = 1; block.transactions === 0 && back < MAX_BLOCKS_LOOKED_AT; back++) {
    const number = Number(latest.number) - back;
    if (number < 1) break;
    const [answer] = await node.batch([['eth_getBlockByNumber', `0x${number.toString(16)}`, false]]);
    const value = resultOf('eth_getBlockByNumber', answer);
    if (value === null) break; // the node keeps no older blocks
    block = readBlock(node, value);
  }
  return block.transactions === 0 ? latest : block;
}

function readBlock(node: NodeClient, value: unknown): { number: string; hash: string; transactions: number } {
  const { number, hash, transactions } = (value ?? {}) as Record<string, unknown>; // members are looked at below
  if (typeof number !== 'string' || typeof hash !== 'string' || !Array.isArray(transactions))
    throw new NodeError('nonsense', `${node.host} has a latest block without number, hash or transactions`);
  return { number, hash, transactions: transactions.length };
}
