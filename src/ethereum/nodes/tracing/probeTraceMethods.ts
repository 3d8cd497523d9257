import {
  chooseTraceMethod,
  type ProbeResponses,
  type TraceMethodChoice,
} from '../../traces/convert/index.ts';
import type { CallOptions, NodeClient } from '../client/nodeClient.ts';
import { NodeError } from '../client/nodeError.ts';
import { METHOD_NOT_FOUND, type RpcResponse, resultOf, throwIfTooLarge } from '../client/rpcResponse.ts';
import { ResponseMemory } from '../largeResponses/responseMemory.ts';
import { DEFAULT_TRACE_LIMITS, type TraceLimits } from '../largeResponses/traceLimits.ts';
import { type Tracer, traceByTracer, tracerOptions } from './traceByTracer.ts';
import { traceFailureOf } from './traceFailure.ts';

/** Maximum number of newest blocks that are searched for one with transactions: an empty block proves nothing. */
const MAX_BLOCKS_LOOKED_AT = 16;
/** Maximum number of blocks that trace methods are tested with: the node may fail at a single block. */
const MAX_TEST_BLOCKS = 3;

export interface ProbeOptions {
  /** Tests every trace method, including those after the first that works. */
  readonly all?: boolean;
  /** Numbers of blocks that the node failed to trace before. They are skipped; the head is a last resort. */
  readonly avoid?: ReadonlySet<number>;
  readonly limits?: TraceLimits;
}

/**
 * Tests which trace methods a node supports, with its newest blocks that have transactions, and chooses one method.
 * Rejects with NodeError if the node does not respond; a JSON-RPC error is a response.
 */
export async function probeTraceMethods(
  node: NodeClient,
  { all = false, avoid = new Set(), limits = DEFAULT_TRACE_LIMITS }: ProbeOptions = {},
): Promise<TraceMethodChoice> {
  let first: TraceMethodChoice | undefined;
  let failure: NodeError | undefined;
  for await (const block of testBlocks(node, avoid)) {
    try {
      const responses = await askAll(node, block, { all, limits });
      const choice = chooseTraceMethod(responses);
      if (choice.method !== 'none') return choice;
      first ??= choice;
      if (!Object.values(responses).some(hasFailed)) return choice;
    } catch (error) {
      // An unreachable node is unreachable for every block.
      if (!(error instanceof NodeError) || traceFailureOf(error) === undefined) throw error;
      failure ??= error;
    }
  }
  if (first !== undefined) return first;
  throw failure ?? new NodeError('nonsense', `${node.host} has no block to test its trace methods with`);
}

/** True if the node may support the trace method, but failed to trace this block. */
const hasFailed = (response: NonNullable<ProbeResponses[keyof ProbeResponses]>): boolean =>
  'error' in response && response.error.code !== METHOD_NOT_FOUND;

async function askAll(
  node: NodeClient,
  block: TestBlock,
  { all, limits }: { readonly all: boolean; readonly limits: TraceLimits },
): Promise<ProbeResponses> {
  const { maxBlockBytes, maxReadBytes } = limits;
  const large = (): CallOptions => ({
    memory: new ResponseMemory(maxBlockBytes, `${node.host}, block ${Number(block.number)}`),
    maxBytes: maxReadBytes,
    silenceMs: limits.traceTimeoutMs,
  });
  const byTracer = (tracer: Tracer) =>
    traceByTracer(node, block, { tracing: tracerOptions(tracer, limits), options: large() });
  const asks: ReadonlyArray<readonly [keyof ProbeResponses, () => Promise<RpcResponse | undefined>]> = [
    ['traceBlock', async () => (await node.batch([['trace_block', block.number]], large()))[0]],
    ['callTracer', () => byTracer('callTracer')],
    ['flatCallTracer', () => byTracer('flatCallTracer')],
  ];
  let responses: ProbeResponses = {};
  for (const [method, ask] of asks) {
    const response = (await ask()) ?? { error: { message: 'no response' } };
    if ('error' in response) throwIfTooLarge(method, response.error);
    responses = { ...responses, [method]: response };
    if (!all && chooseTraceMethod(responses).method !== 'none') break;
  }
  return responses;
}

interface TestBlock {
  readonly number: string;
  readonly hash: string;
}

/** Yields the newest blocks with transactions, newest first, then the newest block without transactions. */
async function* testBlocks(node: NodeClient, avoid: ReadonlySet<number>): AsyncGenerator<TestBlock> {
  const latest = readBlock(node, await node.call('eth_getBlockByNumber', 'latest', false));
  let found = 0;
  let empty: TestBlock | undefined;
  let block: ReturnType<typeof readBlock> | undefined = latest;
  for (let back = 1; block !== undefined; back++) {
    if (!avoid.has(Number(block.number))) {
      if (block.transactions > 0) {
        found++;
        yield block;
      } else empty ??= block;
    }
    if (found === MAX_TEST_BLOCKS || back === MAX_BLOCKS_LOOKED_AT) break;
    block = await blockAt(node, Number(latest.number) - back);
  }
  const last = empty ?? (found === 0 ? latest : undefined);
  if (last !== undefined) yield last;
}

/** Returns undefined if the node does not have the block, or if it is the genesis block, which cannot be traced. */
async function blockAt(node: NodeClient, number: number): Promise<ReturnType<typeof readBlock> | undefined> {
  if (number < 1) return undefined;
  const [answer] = await node.batch([['eth_getBlockByNumber', `0x${number.toString(16)}`, false]]);
  const value = resultOf('eth_getBlockByNumber', answer);
  return value === null ? undefined : readBlock(node, value);
}

function readBlock(node: NodeClient, value: unknown): TestBlock & { readonly transactions: number } {
  const { number, hash, transactions } = (value ?? {}) as Record<string, unknown>; // the members are checked below
  if (typeof number !== 'string' || typeof hash !== 'string' || !Array.isArray(transactions))
    throw new NodeError('nonsense', `${node.host} has a latest block without number, hash or transactions`);
  return { number, hash, transactions: transactions.length };
}
