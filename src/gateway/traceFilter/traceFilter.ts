import { RpcError } from '../../rpc/index.ts';
import {
  AnswerTooLargeError,
  BlockUnavailableError,
  type Indexer,
  JsonWriterPool,
  type NodeHeads,
  type TraceStore,
} from '../../traces/index.ts';
import type { Method } from '../method.ts';
import type { BlockBound } from './blockTag.ts';
import { checkOrder, checkWidth, readTraceFilterParams } from './params.ts';

export interface TraceFilterOptions {
  readonly store: TraceStore;
  readonly indexer: Indexer;
  readonly maxAnswerBytes: number;
}

const NOTHING = Buffer.from('[]');

/** trace_filter, answered from the index (seed 4.4, decisions.md B). */
export function traceFilter({ store, indexer, maxAnswerBytes }: TraceFilterOptions): Method {
  const writers = new JsonWriterPool();
  return {
    name: 'trace_filter',
    summary: 'Traces of a range of blocks, by sender and recipient, from the index.',
    async handle(params, { mayStream }) {
      const { from, to, ...rest } = readTraceFilterParams(params);
      const heads = await settledHeads(indexer, store, [from, to]);
      const fromBlock = settle(heads, 'fromBlock', from);
      const toBlock = settle(heads, 'toBlock', to);
      checkWidth(fromBlock, toBlock);
      checkHead(heads, fromBlock, toBlock);
      checkOrder(fromBlock, toBlock);
      if (rest.count === 0) return NOTHING;

      const filter = { ...rest, fromBlock, toBlock };
      if (store.firstMissing(fromBlock, toBlock) !== undefined)
        await fetchMissing(indexer, fromBlock, toBlock);
      if (!mayStream) return inBytes(() => store.filter(filter, maxAnswerBytes));
      const json = writers.take();
      try {
        const bytes = await inBytes(() => store.filter(filter, maxAnswerBytes, json));
        return { bytes, release: () => writers.giveBack(json) };
      } catch (error) {
        writers.giveBack(json);
        throw error;
      }
    },
  };
}

/** The ends of the chain as the index and its node have them together. */
interface Heads {
  readonly head: number;
  readonly latest: number;
  readonly safe: number | undefined;
  readonly finalized: number | undefined;
}

/**
 * `latest` is the index's head: what it names can be answered at once. A number may go up to the node's head, which is
 * asked for anew before a number past it is refused.
 */
async function settledHeads(
  indexer: Indexer,
  store: TraceStore,
  bounds: readonly BlockBound[],
): Promise<Heads> {
  let heads = headsOf(store, await indexer.heads());
  const highest = Math.max(...bounds.map((bound) => (typeof bound === 'number' ? bound : -1)));
  if (heads === undefined || highest > heads.head) heads = headsOf(store, await indexer.heads(true));
  if (heads === undefined)
    throw new RpcError(
      'resourceUnavailable',
      'the head of the chain is not known yet: no node has answered so far',
    );
  return heads;
}

function headsOf(store: TraceStore, node: NodeHeads | undefined): Heads | undefined {
  const indexed = store.head()?.number;
  const latest = indexed ?? node?.latest.number;
  if (latest === undefined) return undefined;
  return {
    head: Math.max(latest, node?.latest.number ?? 0),
    latest,
    safe: node?.safe?.number,
    finalized: node?.finalized?.number ?? store.finalizedNumber(),
  };
}

function settle(heads: Heads, member: string, bound: BlockBound): number {
  if (typeof bound === 'number') return bound;
  if (bound === 'earliest') return 0;
  const number = heads[bound];
  if (number !== undefined) return Math.min(number, heads.latest);
  throw new RpcError('resourceNotFound', `${member}: the node knows no ${bound} block`);
}

function checkHead({ head }: Heads, fromBlock: number, toBlock: number): void {
  for (const [member, number] of [
    ['fromBlock', fromBlock],
    ['toBlock', toBlock],
  ] as const)
    if (number > head)
      throw new RpcError(
        'invalidParams',
        `${member} ${number} is past the head of the chain, block ${head}`,
        { head },
      );
}

async function fetchMissing(indexer: Indexer, fromBlock: number, toBlock: number): Promise<void> {
  try {
    await indexer.ensure(fromBlock, toBlock);
  } catch (error) {
    if (!(error instanceof BlockUnavailableError)) throw error;
    const { blockNumber } = error;
    throw new RpcError(
      'resourceNotFound',
      `block ${blockNumber} is not in the index, and no node can give it now`,
      {
        blockNumber,
      },
    );
  }
}

async function inBytes(answer: () => Promise<Uint8Array> | Uint8Array): Promise<Uint8Array> {
  try {
    return await answer();
  } catch (error) {
    if (!(error instanceof AnswerTooLargeError)) throw error;
    throw new RpcError(
      'limitExceeded',
      `the answer is over ${error.maxBytes} bytes: ask for fewer traces with count`,
      {
        limit: error.maxBytes,
      },
    );
  }
}
