import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  migrateSharedTraces,
  openSharedTraces,
  type SharedReader,
  TraceStoreUnavailable,
} from '../../src/ethereum/store/shared/index.ts';
import { type Hash, indexBlock, JsonWriter, type TraceFilter } from '../../src/ethereum/traces/index.ts';
import { GrowingChain, shape } from '../contract/growingChain.ts';
import { ClickHouseServer, hasClickHouse, WITHOUT_CLICKHOUSE } from '../support/clickHouse.ts';
import { Random } from '../support/random.ts';
import { newChain } from '../support/sharedIndex.ts';
import { type SyntheticBlock, syntheticBlock } from '../support/syntheticChain.ts';

/** Two segments. */
const [FIRST, LAST] = [1000, 1060];
const MAX_BYTES = 2 ** 26;

describe.skipIf(!hasClickHouse)(
  `a fault of ClickHouse never leads to a wrong result${WITHOUT_CLICKHOUSE}`,
  () => {
    const identity = newChain();
    const chain = new GrowingChain(new Random(81), FIRST);
    const [address] = shape.addresses as [(typeof shape.addresses)[number]];
    const range = { fromBlock: FIRST, toBlock: LAST };
    const opened: { close(): Promise<void> }[] = [];
    let clickHouse: ClickHouseServer;
    let right: unknown[];
    beforeAll(async () => {
      clickHouse = await ClickHouseServer.start();
      await migrateSharedTraces(clickHouse.url());
      const blocks: SyntheticBlock[] = [];
      for (let number = FIRST; number <= LAST; number++) {
        const parentHash = blocks.at(-1)?.header.hash;
        blocks.push(syntheticBlock(chain.random, shape, { number, parentHash }));
      }
      for (const block of blocks) chain.put(block);
      const traces = openSharedTraces(clickHouse.url());
      opened.push(traces);
      await traces.writer(identity).write(blocks.map(({ header, traces: list }) => indexBlock(header, list)));
      right = await results(traces.reader(identity));
      expect(right.every((one) => typeof one === 'string')).toBe(true);
    });
    afterAll(async () => {
      for (const one of opened) await one.close();
      await clickHouse?.remove();
    });

    const newReader = (url = clickHouse.url()): SharedReader => {
      const traces = openSharedTraces(url);
      opened.push(traces);
      return traces.reader(identity);
    };

    /** Returns the results of all kinds of reads as text, or the errors. */
    async function results(reader: SharedReader): Promise<unknown[]> {
      const filter = (change: Partial<TraceFilter>) =>
        reader
          .filter(
            {
              ...{ ...range, fromAddresses: [], toAddresses: [], mode: 'union', after: 0, count: 200 },
              ...change,
            },
            { maxBytes: MAX_BYTES },
          )
          .then((part) => part && [Buffer.from(part.bytes).toString(), part.found, part.matches]);
      const history = async (addresses: 'all' | [typeof address], order: 'asc' | 'desc') => {
        const query = { addresses, direction: 'either', order, filter: {}, limit: 200, ...range } as const;
        const json = new JsonWriter();
        const page = await reader.addressTraces({ query }, { maxBytes: MAX_BYTES, json });
        return [json.written().toString(), page];
      };
      const hashes = chain.blocks.get(LAST - 1)?.header.transactionHashes ?? [];
      const limits = { maxBytes: MAX_BYTES };
      const hash = hashes[0] as Hash; // the block has transactions
      const settled = await Promise.allSettled([
        filter({ fromAddresses: [address] }),
        filter({ fromAddresses: [address], toAddresses: shape.addresses, mode: 'intersection', after: 3 }),
        filter({ after: 30 }),
        reader.blockTraces(LAST - 3, MAX_BYTES).then(String),
        reader.transactionTraces(hash, limits).then(String),
        reader.transactionTrace(hash, [], limits).then(String),
        reader.transactionPosition(new Random(9).hex(32) as Hash, {}).then(String),
        history([address], 'asc'),
        history([address], 'desc'),
        history('all', 'desc'),
        reader.addressSummary({ query: { address, ...range } }),
        reader.lastBlock(2 * LAST),
        reader.missingIn(FIRST - 1, LAST + 1),
      ]);
      return settled.map((one) =>
        one.status === 'rejected'
          ? one.reason
          : JSON.stringify(one.value, (_, value) => (typeof value === 'bigint' ? `${value}` : value)),
      );
    }

    function expectNoneWrong(found: readonly unknown[], fault: string): void {
      for (const [i, one] of found.entries())
        if (!(one instanceof TraceStoreUnavailable)) expect(one, `${fault}, read ${i}`).toBe(right[i]);
    }

    it('if settings of its user truncate what a statement reads', async () => {
      const limits = [
        ['max_rows_to_read', 'read_overflow_mode', 'break'],
        ['max_rows_to_read_leaf', 'read_overflow_mode_leaf', 'break'],
        ['max_rows_in_set', 'set_overflow_mode', 'break'],
        ['max_rows_to_sort', 'sort_overflow_mode', 'break'],
        ['max_rows_to_group_by', 'group_by_overflow_mode', 'break'],
        ['max_rows_to_group_by', 'group_by_overflow_mode', 'any'],
        ['max_rows_in_distinct', 'distinct_overflow_mode', 'break'],
        ['max_result_rows', 'result_overflow_mode', 'break'],
      ] as const;
      for (const [limit, mode, value] of limits)
        for (const rows of [1, 60, 200]) {
          await clickHouse.query(`SET max_block_size = 8, ${limit} = ${rows}, ${mode} = '${value}'`);
          const found = await results(newReader());
          await clickHouse.query(`SET max_block_size = DEFAULT, ${limit} = DEFAULT, ${mode} = DEFAULT`);
          expectNoneWrong(found, `${limit} = ${rows}, ${mode} = ${value}`);
        }
      expect(await results(newReader())).toEqual(right);
    });
  },
);
