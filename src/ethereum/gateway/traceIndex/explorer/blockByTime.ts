import { type Result, RpcError } from '../../../jsonrpc/index.ts';
import type { Method } from '../../method.ts';
import type { NodeRequest } from '../../push/live/liveBlocks.ts';
import { resolveHeads } from '../traceFilter/fromIndex.ts';
import type { IndexServices } from '../traces/indexServices.ts';
import { EXPLORER_PERMISSION } from './explorerMethod.ts';
import { readBlockByTimeQuery } from './params.ts';

/** Name of the method in metrics. The method cannot be called over JSON-RPC. */
export const BLOCK_BY_TIME_METHOD = 'getblocknobytime';

/** Timestamps of blocks whose number is a multiple of this are kept, because most searches begin with the same ones. */
const KEPT_STEP = 4_096;
/** Maximum number of kept timestamps. Above it, the oldest is evicted. Mainnet needs about 6,000. */
const MAX_KEPT = 10_000;

export interface BlockByTimeServices {
  readonly index: IndexServices;
  readonly chainId: () => string | undefined;
  /** Number of the newest final block. Undefined if none is known. */
  readonly final: () => number | undefined;
  /** Calls `eth_getBlockByNumber`. Its results are checked, cached and coalesced. */
  readonly block: NodeRequest;
}

/** Returns the method that finds a block by its time, in Etherscan format. Its parameter is the URL's query string. */
export function blockByTimeMethod({ index, chainId, final, block }: BlockByTimeServices): Method {
  const kept = new Map<number, number>();
  const timestampOf: (number: number, context: Parameters<Method['handle']>[1]) => Promise<number> = async (
    number,
    context,
  ) => {
    const known = kept.get(number);
    if (known !== undefined) return known;
    const found = (await block([`0x${number.toString(16)}`, false], context)) as {
      timestamp?: unknown;
    } | null; // the row has checked that it is an object
    if (typeof found?.timestamp !== 'string')
      throw new RpcError('resourceNotFound', `no node has block ${number}; try again`);
    const timestamp = Number(found.timestamp);
    if (number % KEPT_STEP === 0 && number <= (final() ?? -1)) {
      kept.set(number, timestamp);
      const [oldest] = kept.keys();
      if (kept.size > MAX_KEPT && oldest !== undefined) kept.delete(oldest);
    }
    return timestamp;
  };
  return {
    name: BLOCK_BY_TIME_METHOD,
    permissionOf: EXPLORER_PERMISSION,
    async handle([query], context): Promise<Result> {
      const { timestamp, closest } = readBlockByTimeQuery(query as URLSearchParams, chainId()); // the gateway passes the query string
      const { head } = await resolveHeads(index, ['latest']);
      const read = (number: number): Promise<number> => timestampOf(number, context);
      const before = await lastBlock(closest === 'before' ? timestamp : timestamp - 1, head, read);
      const found = closest === 'before' ? before : before + 1;
      if (found < 0 || found > head) throw new RpcError('invalidParams', 'Error! No closest block found');
      return Buffer.from(JSON.stringify({ status: '1', message: 'OK', result: String(found) }));
    },
  };
}

/**
 * Returns the number of the last block up to `head` whose timestamp is at most `timestamp`, or -1. Reads one header per
 * bit of the head's number, one after another. All searches read the same headers first, whatever the head.
 */
export async function lastBlock(
  timestamp: number,
  head: number,
  timestampOf: (number: number) => Promise<number>,
): Promise<number> {
  if ((await timestampOf(0)) > timestamp) return -1;
  let last = 0;
  for (let step = 2 ** Math.floor(Math.log2(Math.max(1, head))); step >= 1; step /= 2)
    if (last + step <= head && (await timestampOf(last + step)) <= timestamp) last += step;
  return last;
}
