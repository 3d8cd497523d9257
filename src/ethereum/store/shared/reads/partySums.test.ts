import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { shape } from '../../../../../test/contract/growingChain.ts';
import {
  ClickHouseServer,
  hasClickHouse,
  WITHOUT_CLICKHOUSE,
} from '../../../../../test/support/clickHouse.ts';
import { Random } from '../../../../../test/support/random.ts';
import { newChain } from '../../../../../test/support/sharedIndex.ts';
import { syntheticBlock } from '../../../../../test/support/syntheticChain.ts';
import { type Hash, type IndexedBlock, indexBlock } from '../../../traces/index.ts';
import { parseAddresses } from '../connection/address.ts';
import { ClickHouse } from '../connection/clickHouse.ts';
import { migrateSharedTraces, openSharedTraces, verifySharedTraces } from '../openSharedTraces.ts';
import { chainKeyOf } from '../tables/checksums.ts';
import { partyRows, writeOf } from '../tables/rows.ts';
import { BLOCKS_PER_PARTITION } from '../tables/tables.ts';
import { partySumOf, readPartySums } from './partySums.ts';

/** The last blocks of the first partition and the first ones of the next. */
const [FIRST, LAST] = [BLOCKS_PER_PARTITION - 10, BLOCKS_PER_PARTITION + 9];
const CHANGED = BLOCKS_PER_PARTITION + 3;

describe.skipIf(!hasClickHouse)(`rows by address in two partitions${WITHOUT_CLICKHOUSE}`, () => {
  const identity = newChain();
  const blocks: IndexedBlock[] = [];
  let server: ClickHouseServer;
  beforeAll(async () => {
    server = await ClickHouseServer.start();
    await migrateSharedTraces(server.url());
    const traces = openSharedTraces(server.url());
    const random = new Random(4);
    let parentHash: Hash | undefined;
    for (let number = FIRST; number <= LAST; number++) {
      const { header, traces } = syntheticBlock(random, shape, { number, parentHash });
      parentHash = header.hash;
      blocks.push(indexBlock(header, traces));
    }
    await traces.writer(identity).write(blocks);
    await traces.close();
    await server.query('CREATE TABLE whole ENGINE = Memory AS SELECT * FROM trace_parties');
  });
  afterAll(() => server?.remove());

  async function problems(): Promise<string[]> {
    const found: string[] = [];
    const options = { isVerified: () => false, verified: () => undefined, partiesRead: () => undefined };
    for await (const problem of verifySharedTraces(server.url(), options)) found.push(problem);
    return found;
  }

  /** Returns the sum of a block's rows by address, by the block's `write` in ClickHouse. */
  async function expectedSum(block: IndexedBlock): Promise<readonly [bigint, bigint]> {
    const { number } = block.block;
    const write = BigInt(await server.query(`SELECT write FROM trace_blocks WHERE number = ${number}`));
    const made = writeOf(block);
    return [write, partySumOf(partyRows(chainKeyOf(identity), [{ ...made, row: { ...made.row, write } }]))];
  }

  it('have the same sums for any number of statements, which report their progress', async () => {
    const [address] = parseAddresses(server.url());
    if (address === undefined) throw new Error('the URL has no host');
    const host = new ClickHouse(address);
    const sumsOf = async (partition: number, rowsPerStatement: number) => {
      const parts: number[] = [];
      const progress = (part: number): void => void parts.push(part);
      const sums = await readPartySums(
        { host, chain: chainKeyOf(identity) },
        { partition, progress, rowsPerStatement },
      );
      return { sums: sorted(sums), parts };
    };
    const sums = await Promise.all(blocks.map(expectedSum));
    for (const partition of [0, 1]) {
      const expected = sums.filter(
        ([, sum], i) => sum > 0n && Math.floor((FIRST + i) / BLOCKS_PER_PARTITION) === partition,
      );
      expect(await sumsOf(partition, 1_000_000)).toEqual({ sums: sorted(expected), parts: [1] });
      const divided = await sumsOf(partition, 7);
      expect(divided.sums).toEqual(sorted(expected));
      expect(divided.parts.length).toBeGreaterThan(3);
      expect(divided.parts.at(-1)).toBe(1);
    }
    await host.close();
  });
  const sorted = (sums: Iterable<readonly [bigint, bigint]>) =>
    [...sums].sort(([a], [b]) => (a < b ? -1 : 1));

  it('are reported by verify if a column of one row is changed', async () => {
    expect(await problems()).toEqual([]);
    for (const change of [
      "if(is_changed, toFixedString(unhex(repeat('77', 20)), 20), address) AS address",
      'trace_index + is_changed AS trace_index',
      'bitXor(sides, 4 * is_changed) AS sides',
      'bitXor(attributes, is_changed) AS attributes',
      'value + is_changed AS value',
    ]) {
      await server.query('TRUNCATE TABLE trace_parties');
      await server.query(`INSERT INTO trace_parties
        WITH number = ${CHANGED} AND rowNumberInAllBlocks() = (SELECT min(n) FROM
          (SELECT number, rowNumberInAllBlocks() AS n FROM whole) WHERE number = ${CHANGED}) AS is_changed
        SELECT * REPLACE (${change}) FROM whole SETTINGS insert_deduplicate = 0`);
      expect(await problems(), change).toEqual([
        expect.stringMatching(new RegExp(`the rows by address of block ${CHANGED} differ from its traces$`)),
      ]);
    }
  });
});
