import { BlockUnavailableError, NoSpaceError } from '../../../ingest/index.ts';
import type { BlockRange } from '../../../traces/index.ts';
import { clientOf } from '../../method.ts';
import { resolveHeads } from '../traceFilter/fromIndex.ts';
import type { IndexServices, LimitedCaller } from '../traces/indexServices.ts';

/**
 * If `endBlock` is further above the known head than this number of blocks, nodes are not polled for a newer head.
 * Clients of block explorers send 99999999 to request the latest block.
 */
const MAX_LEAD_BLOCKS = 64;

interface Bounds {
  readonly startBlock: number;
  /** Last block of the range. Default: the latest block. */
  readonly endBlock: number | undefined;
}

/** Returns a query's block range. If `endBlock` is absent or above the head, the range ends at the latest block. */
export async function chainRange(
  services: IndexServices,
  { startBlock, endBlock }: Bounds,
): Promise<BlockRange> {
  const known = await resolveHeads(services, ['latest']);
  const bounds = [startBlock, endBlock ?? startBlock];
  const { head, latest } = await resolveHeads(
    services,
    bounds.filter((bound) => bound <= known.head + MAX_LEAD_BLOCKS),
  );
  const toBlock = endBlock === undefined || endBlock > head ? latest : endBlock;
  // The range never includes block 0, because the genesis block has no transactions and may be missing in the index.
  return { fromBlock: Math.max(1, startBlock), toBlock };
}

/**
 * Fetches those blocks of a range that are newer than the index. If they are more than trace_filter allows in a
 * range, none are fetched. A block that no node can return, or for which there is no space, stays missing.
 */
export async function fetchNewest(
  { store, indexer }: IndexServices,
  range: BlockRange,
  caller: LimitedCaller,
): Promise<void> {
  const indexed = (await store.head())?.number;
  if (
    indexed === undefined ||
    range.toBlock <= indexed ||
    range.toBlock - indexed > caller.limits.traceFilterBlocks
  )
    return;
  try {
    await indexer.ensure(Math.max(range.fromBlock, indexed + 1), range.toBlock, clientOf(caller));
  } catch (error) {
    if (!(error instanceof BlockUnavailableError || error instanceof NoSpaceError)) throw error;
  }
}
