import { awaitedLater } from '../../../platform/background/index.ts';
import { AnswerTooLargeError, BLOCKS_PER_SEGMENT } from '../../traces/index.ts';
import type { ClickHouse } from './connection/clickHouse.ts';
import { UnprovenRead } from './connection/failures.ts';
import type { Reading } from './reads/blocks.ts';
import type { Chunks } from './reads/chunks.ts';
import { FetchedBlocks } from './reads/fetchedBlocks.ts';
import { type PartySums, partySumOf, readPartySums } from './reads/partySums.ts';
import { readBlockChunks } from './reads/readChunks.ts';
import { checkSegment } from './reads/segments.ts';
import { type BlockRow, isTraced } from './tables/blockRow.ts';
import { eachParty, PARTY_BYTES, partyRows, writeOf } from './tables/rows.ts';
import { BLOCKS_PER_PARTITION, columnsOf, SEGMENT } from './tables/tables.ts';

const MAX_BYTES = 1024 * 1024 * 1024;

/** Number of segments that are verified at once. ClickHouse takes most of the time. */
const READERS = 8;
/** Number of blocks whose chunks one statement reads. */
const BLOCKS_PER_READ = 16;
const SEGMENTS_PER_PARTITION = BLOCKS_PER_PARTITION / BLOCKS_PER_SEGMENT;

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
  /** Called while the rows by address of many segments are read, with the first segment and the part read, 0 to 1. */
  readonly partiesRead: (first: HostSegment, part: number) => void;
}

/** The sums of a partition of a chain. */
interface PartitionSums {
  readonly chain: bigint;
  readonly partition: number;
  readonly sums: Promise<PartySums>;
}

/**
 * Reads all valid rows of a host, and its rows of segments. Yields the problems: wrong links, digests, checksums and
 * rows by address.
 */
export async function* verifyHost(
  client: ClickHouse,
  host: string,
  { isVerified, verified, partiesRead }: VerifySharedOptions,
): AsyncGenerator<string> {
  const all = await segmentsOf(client, host);
  const running: (() => Promise<readonly string[]>)[] = [];
  let last: PartitionSums | undefined;
  for (const [i, one] of all.entries()) {
    if (isVerified(one)) continue;
    const isNewest = all[i + 1]?.chain !== one.chain;
    const { chain } = one;
    const partition = Math.floor(one.segment / SEGMENTS_PER_PARTITION);
    if (last?.chain !== chain || last.partition !== partition) {
      const progress = (part: number): void => partiesRead(one, part);
      const sums = awaitedLater(readPartySums({ host: client, chain }, { partition, progress }));
      last = { chain, partition, sums };
    }
    const problems = awaitedLater(verifySegment(client, one, last.sums));
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
async function verifySegment(
  client: ClickHouse,
  { host, chain, segment }: HostSegment,
  ofPartition: Promise<PartySums>,
): Promise<string[]> {
  const reading = { host: client, chain, fetched: new FetchedBlocks(chain) };
  const [{ blocks, errors }, sums] = await Promise.all([checkSegment(reading, segment), ofPartition]);
  const traced = blocks.filter(isTraced);
  for (let i = 0; i < traced.length; i += BLOCKS_PER_READ)
    errors.push(...(await errorsOf(reading, traced.slice(i, i + BLOCKS_PER_READ), sums)));
  return errors.map(({ message }) => `${host}: chain ${chain}: ${message}`);
}

/** Returns the errors of blocks: damaged chunks, and rows by address that differ from the chunks. */
async function errorsOf(
  reading: Reading,
  blocks: readonly BlockRow[],
  sums: PartySums,
): Promise<UnprovenRead[]> {
  try {
    const chunks = await readBlockChunks(reading, blocks, { maxBytes: MAX_BYTES });
    for (const block of blocks) await checkParties(reading, block, { chunks, sums });
    return [];
  } catch (error) {
    if (blocks.length > 1 && (error instanceof UnprovenRead || error instanceof AnswerTooLargeError)) {
      const errors: UnprovenRead[] = [];
      for (const block of blocks) errors.push(...(await errorsOf(reading, [block], sums)));
      return errors;
    }
    if (error instanceof UnprovenRead) return [error];
    throw error;
  }
}

/** Throws UnprovenRead if the rows by address of a block differ from its chunks. */
async function checkParties(
  reading: Reading,
  block: BlockRow,
  { chunks, sums }: { readonly chunks: Chunks; readonly sums: PartySums },
): Promise<void> {
  const { number, write } = block;
  const all = Array.from({ length: block.chunks }, (_, i) => chunks.get(number, i));
  const expected = writeOf({ block, chunks: all });
  const rows = partyRows(reading.chain, [{ ...expected, row: { ...expected.row, write } }]);
  // Perhaps a writer added the block after the sums were read.
  if (sums.get(write) !== partySumOf(rows) && !(await areParties(reading, block, rows)))
    throw new UnprovenRead(`ClickHouse: the rows by address of block ${number} differ from its traces`);
}

/** Returns whether the rows by address of a block are the encoded ones. */
async function areParties(
  { host, chain }: Reading,
  { number, write }: BlockRow,
  rows: Buffer,
): Promise<boolean> {
  const from = `FROM (SELECT groupArray((${columnsOf('trace_parties')})) AS rows FROM trace_parties
    WHERE chain = {chain:UInt64} AND number = {number:UInt32} AND write = {write:UInt64})`;
  const parameters = { chain: String(chain), number, write: String(write) };
  const sorted = (rows: Buffer[]): Buffer => Buffer.concat(rows.sort(Buffer.compare));
  const held = await host.row({ columns: 'rows', from, parameters, maxBytes: MAX_BYTES }, (row) =>
    sorted(row.array(() => row.fixed(PARTY_BYTES))),
  );
  return held.equals(sorted(eachParty(rows)));
}
