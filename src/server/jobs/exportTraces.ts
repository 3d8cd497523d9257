import { NoIndexError, openTraceReader } from '../../ethereum/store/lmdb/traces/index.ts';
import {
  type Address,
  type BlockRange,
  type ChainIdentity,
  type Hash,
  MAX_RANGE_BLOCKS,
  type StoredBlock,
  type Trace,
  type TraceReader,
  type UnavailableBlock,
} from '../../ethereum/traces/index.ts';
import { filterPages } from './filterPages.ts';
import { indexFolder } from './indexFolder.ts';
import { namedBlocks } from './unavailableText.ts';

/** Maximum number of missing ranges of blocks that an error message names. */
const MAX_NAMED_GAPS = 5;

const HEADERS_PER_PAGE = 4_096;

/** Thrown if a range of blocks cannot be exported. The message contains the remedy. */
class ExportError extends Error {
  override readonly name = 'ExportError';
}

export interface ExportOptions {
  readonly dataDir: string;
  readonly network: string;
  readonly fromBlock: number;
  readonly toBlock: number;
  /** Exports only traces from or to this address. Default: all traces. */
  readonly address: Address | undefined;
  /** Whether to skip blocks that no node can trace; otherwise they are an error. */
  readonly skipUnavailable: boolean;
  /** Receives the skipped blocks before the first page. */
  readonly skipped: (blocks: readonly UnavailableBlock[]) => void;
}

/**
 * Yields the traces of a range of blocks in order, in pages of bounded size, so the range may have any length. Only
 * reads the index, and may run while a server uses it. Throws ExportError before the first page if a block is
 * missing, or if a block is unavailable and `skipUnavailable` is false.
 */
export async function* exportTraces(options: ExportOptions): AsyncGenerator<readonly Trace[]> {
  const { toBlock } = options;
  const store = openIndex(options);
  try {
    await checkComplete(store, options);
    const unavailable = await unavailableOf(store, options);
    // Each block of the index contains the hash of its parent, and only the newest blocks are removed. So the range
    // is unchanged if the hash of its last block is unchanged.
    const lastHash = (await store.block(toBlock))?.hash;
    const checkChain = async (): Promise<void> => {
      if ((await store.block(toBlock))?.hash === lastHash) return;
      throw new ExportError(
        'blocks of the range were replaced by a reorganisation during the export: the output has the old blocks and is not ' +
          'complete. Run the export again, or end the range at a final block',
      );
    };
    for (const { fromBlock, toBlock } of rangesBetween(options, unavailable))
      for await (const page of pagesOf(store, { ...options, fromBlock, toBlock })) {
        // If the chain is unchanged now, it was unchanged while the page was read.
        await checkChain();
        yield page;
      }
  } finally {
    await store.close();
  }
}

/** A block header as it is exported. */
export interface ExportedHeader extends Omit<StoredBlock, 'number' | 'hash'>, ChainIdentity {
  readonly blockNumber: number;
  readonly blockHash: Hash;
}

/**
 * Yields the headers of a range of blocks in order, in pages. Throws ExportError if a block is missing, or if blocks
 * were replaced since the header before was read.
 */
export async function* exportHeaders(
  options: Pick<ExportOptions, 'dataDir' | 'network' | 'fromBlock' | 'toBlock'>,
): AsyncGenerator<readonly ExportedHeader[]> {
  const { fromBlock, toBlock } = options;
  const store = openIndex(options);
  try {
    await checkComplete(store, options);
    const chain = await store.chain();
    let parent: StoredBlock | undefined;
    for (let first = fromBlock; first <= toBlock; first += HEADERS_PER_PAGE) {
      const page: ExportedHeader[] = [];
      for (let number = first; number <= Math.min(toBlock, first + HEADERS_PER_PAGE - 1); number++) {
        const block = await store.block(number);
        if (block === undefined || chain === undefined || (parent && parent.hash !== block.parentHash))
          throw new ExportError(
            `block ${number} was replaced by a reorganisation during the export: run it again`,
          );
        const { hash, parentHash, timestamp, traceCount, unavailable } = block;
        const header = { blockNumber: number, blockHash: hash, parentHash, timestamp, traceCount };
        page.push({ ...header, ...(unavailable && { unavailable }), ...chain });
        parent = block;
      }
      yield page;
    }
  } finally {
    await store.close();
  }
}

async function* pagesOf(
  store: TraceReader,
  { fromBlock, toBlock, address }: ExportOptions,
): AsyncGenerator<readonly Trace[]> {
  const addresses = address === undefined ? [] : [address];
  const parties = { fromAddresses: addresses, toAddresses: addresses, mode: 'union' } as const;
  const blocks = address === undefined ? 1 : MAX_RANGE_BLOCKS;
  for (let first = fromBlock; first <= toBlock; first += blocks) {
    const last = Math.min(toBlock, first + blocks - 1);
    for await (const page of filterPages(store, { fromBlock: first, toBlock: last, ...parties }))
      yield JSON.parse(page.toString()) as Trace[]; // the index was written from checked traces
  }
}

/** Returns the unavailable blocks of the range. Throws ExportError unless `skipUnavailable` is set. */
async function unavailableOf(
  store: TraceReader,
  { fromBlock, toBlock, network, skipUnavailable, skipped }: ExportOptions,
): Promise<readonly UnavailableBlock[]> {
  const blocks = await store.unavailable(fromBlock, toBlock, Number.POSITIVE_INFINITY);
  if (blocks.length === 0) return blocks;
  if (!skipUnavailable)
    throw new ExportError(
      `no node can trace ${blocks.length === 1 ? 'block' : 'blocks'} ${namedBlocks(blocks)}. Export the rest with ` +
        `--skip-unavailable, or try again to index: floodgate index --network ${network} --retry-unavailable --upstream URL`,
    );
  skipped(blocks);
  return blocks;
}

/** Yields the parts of a range of blocks that remain without the blocks in `left`. */
function* rangesBetween(
  { fromBlock, toBlock }: BlockRange,
  left: readonly UnavailableBlock[],
): Generator<BlockRange> {
  let next = fromBlock;
  for (const { number } of left) {
    if (number > next) yield { fromBlock: next, toBlock: number - 1 };
    next = number + 1;
  }
  if (next <= toBlock) yield { fromBlock: next, toBlock };
}

function openIndex({ dataDir, network }: Pick<ExportOptions, 'dataDir' | 'network'>): TraceReader {
  try {
    return openTraceReader(indexFolder(dataDir, network));
  } catch (error) {
    if (!(error instanceof NoIndexError)) throw error;
    throw new ExportError(
      `no index of ${network} in ${dataDir}: set the server's data folder with --data-dir or FLOODGATE_DATA_DIR, and ` +
        'the network with --network',
    );
  }
}

async function checkComplete(
  store: TraceReader,
  { fromBlock, toBlock, network }: Pick<ExportOptions, 'fromBlock' | 'toBlock' | 'network'>,
): Promise<void> {
  const gaps: string[] = [];
  let next = await store.firstMissing(fromBlock, toBlock);
  while (next !== undefined && gaps.length < MAX_NAMED_GAPS) {
    const first = next;
    let last = first;
    while (last < toBlock && (await store.firstMissing(last + 1, last + 1)) !== undefined) last++;
    gaps.push(first === last ? `${first}` : `${first} to ${last}`);
    next = last < toBlock ? await store.firstMissing(last + 1, toBlock) : undefined;
  }
  if (gaps.length === 0) return;
  throw new ExportError(
    `blocks are missing in the index: ${gaps.join(', ')}${next === undefined ? '' : ' and more'}. Index them first: ` +
      `floodgate index --network ${network} --from ${fromBlock} --to ${toBlock} --upstream URL, or ask the server for them`,
  );
}
