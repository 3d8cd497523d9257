import { BlockUnavailableError } from '../../../ingest/index.ts';
import { type BlockRange, MAX_RANGE_BLOCKS } from '../../../traces/index.ts';
import { resolveHeads } from '../traceFilter/fromIndex.ts';
import type { IndexServices } from '../traces/indexServices.ts';

/**
 * Nodes are polled for a newer head only if `endBlock` is at most this many blocks above the known head. Clients of
 * block explorers send 99999999 to request the latest block.
 */
const MAX_LEAD_BLOCKS = 64;

interface Bounds {
  readonly startBlock: number;
  /** Last block of the range. Default: the latest block. */
  readonly endBlock: number | undefined;
}

/** Returns a query's block range. It ends at the latest block if `endBlock` is above the head, as in trace_filter. */
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
  // The range starts at block 1, because the genesis block has no transactions and may be missing in the index.
  return { fromBlock: Math.max(1, startBlock), toBlock };
}

/**
 * Fetches blocks that are newer than the index, unless they exceed the range limit of trace_filter. A block that no
 * node can return stays missing.
 */
export async function fetchNewest({ store, indexer }: IndexServices, range: BlockRange): Promise<void> {
  const indexed = (await store.head())?.number;
  if (indexed === undefined || range.toBlock <= indexed || range.toBlock - indexed > MAX_RANGE_BLOCKS) return;
  try {
    await indexer.ensure(Math.max(range.fromBlock, indexed + 1), range.toBlock);
  } catch (error) {
    if (!(error instanceof BlockUnavailableError)) throw error;
  }
}
