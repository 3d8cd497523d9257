import { NoIndexError, openTraceReader } from '../ethereum/store/lmdb/traces/index.ts';
import {
  type Address,
  MAX_COUNT,
  MAX_RANGE_BLOCKS,
  type Trace,
  type TraceFilter,
  type TraceReader,
} from '../ethereum/traces/index.ts';
import { indexFolder } from './indexFolder.ts';

/** Blocks missing in a range are named in an error, up to so many stretches. */
const MAX_NAMED_GAPS = 5;

/** A range cannot be exported; the message says what to do. */
class ExportError extends Error {
  override readonly name = 'ExportError';
}

export interface ExportOptions {
  readonly dataDir: string;
  readonly network: string;
  readonly fromBlock: number;
  readonly toBlock: number;
  /** Only traces from or to this address. */
  readonly address: Address | undefined;
}

/**
 * The traces of a range in order, a block or a page at a time, read beside a running server and never written to. Throws
 * ExportError before the first where a block of the range is missing. The range may be of any length: nothing but the page
 * at hand is in memory.
 */
export async function* exportTraces(options: ExportOptions): AsyncGenerator<readonly Trace[]> {
  const { toBlock } = options;
  const store = openIndex(options);
  try {
    await checkComplete(store, options);
    // Blocks of the index are parent and child, and are undone from above: the last one's hash stands for the whole range.
    const lastHash = (await store.block(toBlock))?.hash;
    const checkChain = async (): Promise<void> => {
      if ((await store.block(toBlock))?.hash === lastHash) return;
      throw new ExportError(
        'blocks of the range were replaced by others while they were exported: what was written is of the old ones, and not ' +
          'whole. Run it again, or end the range at a block that is final',
      );
    };
    for await (const page of pagesOf(store, options)) {
      // What stands now stood while the page was read.
      await checkChain();
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
  if (address === undefined) {
    for (let number = fromBlock; number <= toBlock; number++)
      yield parse((await store.blockTraces(number, Number.POSITIVE_INFINITY)) ?? NO_TRACES);
    return;
  }
  const parties = { fromAddresses: [address], toAddresses: [address], mode: 'union' } as const;
  for (let first = fromBlock; first <= toBlock; first += MAX_RANGE_BLOCKS) {
    const last = Math.min(toBlock, first + MAX_RANGE_BLOCKS - 1);
    for (let after = 0, isMore = true; isMore; after += MAX_COUNT) {
      const filter: TraceFilter = { fromBlock: first, toBlock: last, ...parties, after, count: MAX_COUNT };
      const page = parse((await store.filter(filter, Number.POSITIVE_INFINITY)) ?? NO_TRACES);
      yield page;
      isMore = page.length === MAX_COUNT;
    }
  }
}

function openIndex({ dataDir, network }: ExportOptions): TraceReader {
  try {
    return openTraceReader(indexFolder(dataDir, network));
  } catch (error) {
    if (!(error instanceof NoIndexError)) throw error;
    throw new ExportError(
      `${dataDir} holds no index of ${network}. Name the server's data folder with --data-dir or FLOODGATE_DATA_DIR, and ` +
        'the network with --network',
    );
  }
}

async function checkComplete(
  store: TraceReader,
  { fromBlock, toBlock, network }: ExportOptions,
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

const NO_TRACES = Buffer.from('[]');

const parse = (bytes: Uint8Array): Trace[] => JSON.parse(Buffer.from(bytes).toString()) as Trace[]; // written from checked traces
