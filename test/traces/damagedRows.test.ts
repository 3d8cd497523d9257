import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { migrateSharedTraces, openSharedTraces } from '../../src/ethereum/store/shared/index.ts';
import { type IndexedBlock, indexBlock } from '../../src/ethereum/traces/index.ts';
import { GrowingChain, shape } from '../contract/growingChain.ts';
import { ClickHouseServer, hasClickHouse, WITHOUT_CLICKHOUSE } from '../support/clickHouse.ts';
import { Random } from '../support/random.ts';
import { newChain } from '../support/sharedIndex.ts';
import { syntheticBlock } from '../support/syntheticChain.ts';

const [FIRST, LAST, CHANGED] = [2040, 2055, 2044];
const MAX_BYTES = 2 ** 26;

describe.skipIf(!hasClickHouse)(`a changed row of trace_blocks${WITHOUT_CLICKHOUSE}`, () => {
  let clickHouse: ClickHouseServer;
  beforeAll(async () => {
    clickHouse = await ClickHouseServer.start();
    await migrateSharedTraces(clickHouse.url());
  });
  afterAll(() => clickHouse?.remove());

  it.each([
    ['traces = traces - 8', 'no trace of some'],
    ['traces = traces - 1', 'the last trace is hidden'],
    ['traces = traces + 1', 'there seems to be one more'],
    ['traces = 0', 'the block seems to be empty'],
    ['version = 7', 'the row seems to be newer'],
    ['version = 4294967294', 'no version seems to be newer, except one'],
    ['exactness = 1', 'the block seems to be without traces'],
    ['timestamp = 1', 'a wrong time'],
  ])('is not used, and replaced when the block is written again: %s (%s)', async (change) => {
    const identity = newChain();
    const traces = openSharedTraces(clickHouse.url());
    const [reader, writer] = [traces.reader(identity), traces.writer(identity)];
    const chain = new GrowingChain(new Random(56), FIRST);
    const blocks: IndexedBlock[] = [];
    let skipped = 3;
    while (chain.next <= LAST) {
      const parentHash = chain.blocks.get(chain.next - 1)?.header.hash;
      const block = syntheticBlock(chain.random, shape, { number: chain.next++, parentHash });
      chain.put(block);
      if (block.header.number <= CHANGED) skipped += block.traces.length;
      blocks.push(indexBlock(block.header, block.traces));
    }
    // In one write, because changes of rows take longer the more parts the tables have.
    await writer.write(blocks);
    const range = { fromBlock: FIRST, toBlock: LAST };
    const filter = { ...range, fromAddresses: [], toAddresses: [], mode: 'intersection' } as const;
    const results = () =>
      Promise.allSettled([
        // `after` skips the changed block.
        reader
          .filter({ ...filter, after: skipped, count: 5 }, { maxBytes: MAX_BYTES })
          .then((part) => part?.bytes),
        reader.blockTraces(CHANGED, MAX_BYTES),
        reader.block(CHANGED),
      ]);
    const right = await results();
    expect(right.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'fulfilled']);
    await clickHouse.query(
      `ALTER TABLE trace_blocks UPDATE ${change} WHERE number = ${CHANGED} SETTINGS mutations_sync = 2`,
    );
    // No result: the gateway then reads the block from a node, or reports an error.
    for (const result of await results())
      expect(result.status === 'fulfilled' && result.value, change).toBeFalsy();
    const { header, traces: whole } = chain.blocks.get(CHANGED) ?? {};
    if (header === undefined || whole === undefined) throw new Error('the changed block is missing');
    await writer.write([indexBlock(header, whole)], { again: true });
    expect(await results()).toEqual(right);
    await traces.close();
  });

  it('with the highest version is an error that names the rows to delete', async () => {
    const identity = newChain();
    const traces = openSharedTraces(clickHouse.url());
    const [reader, writer] = [traces.reader(identity), traces.writer(identity)];
    const { header, traces: list } = syntheticBlock(new Random(58), shape, { number: 200 });
    const blocks = [indexBlock(header, list)];
    await writer.write(blocks);
    await clickHouse.query(
      'ALTER TABLE trace_blocks UPDATE version = 4294967295 WHERE number = 200 SETTINGS mutations_sync = 2',
    );
    await expect(reader.lastBlock(300)).rejects.toThrow('the row of block 200 is damaged');
    await expect(writer.write(blocks, { again: true })).rejects.toThrow(
      'block 200: a damaged row outranks every other: delete the rows of this number from trace_blocks',
    );
    await clickHouse.query('ALTER TABLE trace_blocks DELETE WHERE number = 200 SETTINGS mutations_sync = 2');
    await writer.write(blocks);
    expect((await reader.lastBlock(300))?.number).toBe(200);
    await traces.close();
  });

  it('is marked as missing by a rewind', async () => {
    const identity = newChain();
    const traces = openSharedTraces(clickHouse.url());
    const [reader, writer] = [traces.reader(identity), traces.writer(identity)];
    const random = new Random(57);
    const first = syntheticBlock(random, shape, { number: 100 });
    const second = syntheticBlock(random, shape, { number: 101, parentHash: first.header.hash });
    await writer.write([first, second].map(({ header, traces: list }) => indexBlock(header, list)));
    await clickHouse.query(
      'ALTER TABLE trace_blocks UPDATE timestamp = 1 WHERE number = 101 SETTINGS mutations_sync = 2',
    );
    await expect(reader.lastBlock(200)).rejects.toThrow('the row of block 101 is damaged');
    expect(await writer.rewind(100, 101)).toBe(1);
    expect((await reader.lastBlock(200))?.number).toBe(100);
    await traces.close();
  });
});
