import type { ClickHouse } from './connection/clickHouse.ts';
import { UnprovenRead } from './connection/failures.ts';
import type { Reading } from './reads/blocks.ts';
import { FetchedBlocks } from './reads/fetchedBlocks.ts';
import { readBlockChunks } from './reads/readChunks.ts';
import { checkSegment } from './reads/segments.ts';
import { type BlockRow, isTraced } from './tables/blockRow.ts';
import { eachParty, PARTY_BYTES, partyRows, writeOf } from './tables/rows.ts';
import { columnsOf, SEGMENT } from './tables/tables.ts';

const MAX_BYTES = 1024 * 1024 * 1024;

/** Number of segments that are verified at once. ClickHouse takes most of the time. */
const READERS = 8;

/** A segment of a chain on a host. The chain is identified by its number in the tables, the host by name and port. */
export interface HostSegment {
  readonly host: string;
  readonly chain: bigint;
  readonly segment: number;
}

export interface VerifySharedOptions {
  /** Returns whether a segment needs no verification, because an earlier run has verified it. */
  readonly isVerified: (segment: HostSegment) => boolean;
  /** Called with each segment without problems, unless writers may still add blocks to it. */
  readonly verified: (segment: HostSegment) => void;
}

/**
 * Reads all valid rows of a host, and its rows of segments. Yields the problems: wrong links, digests, checksums and
 * rows by address.
 */
export async function* verifyHost(
  client: ClickHouse,
  host: string,
  { isVerified, verified }: VerifySharedOptions,
): AsyncGenerator<string> {
  const all = await segmentsOf(client, host);
  const running: (() => Promise<readonly string[]>)[] = [];
  for (const [i, one] of all.entries()) {
    if (isVerified(one)) continue;
    const isNewest = all[i + 1]?.chain !== one.chain;
    const problems = verifySegment(client, one);
    // Prevents an unhandled rejection. The await below throws the error.
    problems.catch(() => undefined);
    running.push(async () => {
      const found = await problems;
      if (found.length === 0 && !isNewest) verified(one);
      return found;
    });
    if (running.length === READERS) yield* (await running.shift()?.()) ?? [];
  }
  for (const finish of running) yield* await finish();
}

/** Returns the segments with rows, by chain, ascending. */
async function segmentsOf(client: ClickHouse, host: string): Promise<HostSegment[]> {
  const rows = `SELECT DISTINCT chain, ${SEGMENT} AS segment FROM trace_blocks ORDER BY chain, segment`;
  const from = `FROM (SELECT groupArray((chain, segment)) AS segments FROM (${rows}))`;
  return client.row({ columns: 'segments', from }, (row) =>
    row.array(() => ({ host, chain: row.bigUint64(), segment: row.uint32() })),
  );
}

/** Returns the problems of a segment. */
async function verifySegment(client: ClickHouse, { host, chain, segment }: HostSegment): Promise<string[]> {
  const reading = { host: client, chain, fetched: new FetchedBlocks(chain) };
  const { blocks, errors } = await checkSegment(reading, segment);
  for (const block of blocks)
    try {
      if (isTraced(block)) await verifyBlock(reading, block);
    } catch (error) {
      if (!(error instanceof UnprovenRead)) throw error;
      errors.push(error);
    }
  return errors.map(({ message }) => `${host}: chain ${chain}: ${message}`);
}

/** Throws UnprovenRead if the chunks of a block are damaged, or if its rows by address differ from its chunks. */
async function verifyBlock(reading: Reading, block: BlockRow): Promise<void> {
  const { host, chain } = reading;
  const { number, write } = block;
  const chunks = await readBlockChunks(reading, block, { maxBytes: MAX_BYTES });
  const from = `FROM (SELECT groupArray((${columnsOf('trace_parties')})) AS rows FROM trace_parties
    WHERE chain = {chain:UInt64} AND number = {number:UInt32} AND write = {write:UInt64})`;
  const parameters = { chain: String(chain), number, write: String(write) };
  const sorted = (rows: Buffer[]): Buffer => Buffer.concat(rows.sort(Buffer.compare));
  const held = await host.row({ columns: 'rows', from, parameters, maxBytes: MAX_BYTES }, (row) =>
    sorted(row.array(() => row.fixed(PARTY_BYTES))),
  );
  const all = Array.from({ length: block.chunks }, (_, i) => chunks.get(number, i));
  const expected = writeOf({ block, chunks: all });
  const rows = partyRows(chain, [{ ...expected, row: { ...expected.row, write } }]);
  if (!held.equals(sorted(eachParty(rows))))
    throw new UnprovenRead(`ClickHouse: the rows by address of block ${number} differ from its traces`);
}
