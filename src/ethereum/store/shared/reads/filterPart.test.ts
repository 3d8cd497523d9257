import { expect, it, onTestFinished } from 'vitest';
import { GrowingChain, shape } from '../../../../../test/contract/growingChain.ts';
import {
  ClickHouseServer,
  hasClickHouse,
  WITHOUT_CLICKHOUSE,
} from '../../../../../test/support/clickHouse.ts';
import { referenceFilter } from '../../../../../test/support/plainFilter.ts';
import { Random } from '../../../../../test/support/random.ts';
import { newChain } from '../../../../../test/support/sharedIndex.ts';
import { stringifyTraces } from '../../../../../test/support/textOfTraces.ts';
import { indexBlock, type TraceFilter, type TraceStore } from '../../../traces/index.ts';
import { parseAddresses } from '../connection/address.ts';
import { ClickHouse } from '../connection/clickHouse.ts';
import { migrateSharedTraces, openSharedTraces } from '../openSharedTraces.ts';
import { chainKeyOf } from '../tables/checksums.ts';
import { FetchedBlocks } from './fetchedBlocks.ts';
import { filterPart } from './filterPart.ts';

it.skipIf(!hasClickHouse)(
  `a block that becomes visible during a read is not ignored${WITHOUT_CLICKHOUSE}`,
  async () => {
    const server = await ClickHouseServer.start();
    onTestFinished(() => server.remove());
    await migrateSharedTraces(server.url());
    const [identity, traces] = [newChain(), openSharedTraces(server.url())];
    const chain = new GrowingChain(new Random(5), 1000);
    await chain.grow({ apply: async () => undefined } as Partial<TraceStore> as TraceStore, 6); // only apply is called
    const blocks = [...chain.blocks.values()].map(({ header, traces: list }) => indexBlock(header, list));
    await traces.writer(identity).write(blocks);
    await traces.close();
    // A writer has inserted the other rows of the last block, but not its row in trace_blocks.
    await server.query('CREATE TABLE late ENGINE = Memory AS SELECT * FROM trace_blocks WHERE number = 1005');
    await server.query('ALTER TABLE trace_blocks DELETE WHERE number = 1005 SETTINGS mutations_sync = 2');

    const [address] = parseAddresses(server.url());
    const host = new ClickHouse(address as NonNullable<typeof address>); // the URL has one host
    onTestFinished(() => host.close());
    const row = host.row.bind(host);
    let reads = 0;
    host.row = async (...read: Parameters<typeof row>) => {
      if (++reads === 2) await server.query('INSERT INTO trace_blocks SELECT * FROM late');
      return row(...read) as never; // of the type that the caller expects
    };
    const filter: TraceFilter = {
      fromBlock: 1000,
      toBlock: 1005,
      fromAddresses: shape.addresses,
      toAddresses: [],
      mode: 'intersection',
      after: 0,
      count: 10_000,
    };
    const key = chainKeyOf(identity);
    const reading = { host, chain: key, fetched: new FetchedBlocks(key) };
    const found = await filterPart(reading, filter, { maxBytes: 2 ** 26 });
    expect(reads).toBeGreaterThan(1);
    expect(Buffer.from(found?.bytes ?? '').toString()).toBe(
      stringifyTraces(referenceFilter(chain.traces, filter)),
    );
  },
);
