import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { openTraceStore } from '../storage/lmdb/traces/traceStore.ts';
import { type Address, MAX_COUNT, MAX_RANGE_BLOCKS, type Trace, type TraceStore } from '../traces/index.ts';

/** Blocks missing in a range are named in an error, up to so many stretches. */
const MAX_NAMED_GAPS = 5;

/** A range cannot be exported; the message says what to do. */
export class ExportError extends Error {
  override readonly name = 'ExportError';
}

export interface ExportOptions {
  readonly dataDir: string;
  readonly fromBlock: number;
  readonly toBlock: number;
  /** Only traces from or to this address. */
  readonly address: Address | undefined;
}

/**
 * The traces of a range in order, a block or a page at a time, read beside a running server. Throws ExportError before the
 * first where a block of the range is missing. The range may be of any length: nothing but the page at hand is in memory.
 */
export async function* exportTraces(options: ExportOptions): AsyncGenerator<readonly Trace[]> {
  const { dataDir, fromBlock, toBlock, address } = options;
  const folder = join(dataDir, 'traces');
  if (!existsSync(folder))
    throw new ExportError(
      `${dataDir} holds no index. Name the server's data folder with --data-dir or FLOODGATE_DATA_DIR`,
    );
  const store = openTraceStore(folder);
  try {
    checkComplete(store, fromBlock, toBlock);
    if (address === undefined) {
      for (let number = fromBlock; number <= toBlock; number++) {
        const bytes = await store.blockTraces(number, Number.POSITIVE_INFINITY);
        if (bytes === undefined) throw replaced(number);
        yield parse(bytes);
      }
      return;
    }
    for (let first = fromBlock; first <= toBlock; first += MAX_RANGE_BLOCKS)
      yield* tracesOf(store, address, first, Math.min(toBlock, first + MAX_RANGE_BLOCKS - 1));
  } finally {
    await store.close();
  }
}

async function* tracesOf(
  store: TraceStore,
  address: Address,
  fromBlock: number,
  toBlock: number,
): AsyncGenerator<readonly Trace[]> {
  const filter = {
    fromBlock,
    toBlock,
    fromAddresses: [address],
    toAddresses: [address],
    mode: 'union',
  } as const;
  for (let after = 0; ; after += MAX_COUNT) {
    if (store.firstMissing(fromBlock, toBlock) !== undefined) throw replaced(fromBlock);
    const page = parse(await store.filter({ ...filter, after, count: MAX_COUNT }, Number.POSITIVE_INFINITY));
    yield page;
    if (page.length < MAX_COUNT) return;
  }
}

function checkComplete(store: TraceStore, fromBlock: number, toBlock: number): void {
  const gaps: string[] = [];
  let next = store.firstMissing(fromBlock, toBlock);
  while (next !== undefined && gaps.length < MAX_NAMED_GAPS) {
    const first = next;
    let last = first;
    while (last < toBlock && store.block(last + 1) === undefined) last++;
    gaps.push(first === last ? `${first}` : `${first} to ${last}`);
    next = last < toBlock ? store.firstMissing(last + 1, toBlock) : undefined;
  }
  if (gaps.length === 0) return;
  throw new ExportError(
    `blocks are missing in the index: ${gaps.join(', ')}${next === undefined ? '' : ' and more'}. Index them first: ` +
      `floodgate index --from ${fromBlock} --to ${toBlock} --upstream URL`,
  );
}

const replaced = (number: number): ExportError =>
  new ExportError(
    `block ${number} was replaced while it was exported: what was written is not whole. Run it again`,
  );

const parse = (bytes: Uint8Array): Trace[] => JSON.parse(Buffer.from(bytes).toString()) as Trace[]; // written from checked traces
