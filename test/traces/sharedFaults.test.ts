import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import {
  migrateSharedTraces,
  openSharedTraces,
  type SharedReader,
  TraceStoreUnavailable,
} from '../../src/ethereum/store/shared/index.ts';
import {
  type BlockRange,
  type Hash,
  indexBlock,
  JsonWriter,
  type Trace,
  type TraceFilter,
} from '../../src/ethereum/traces/index.ts';
import { shape } from '../contract/growingChain.ts';
import { ClickHouseServer, hasClickHouse, WITHOUT_CLICKHOUSE } from '../support/clickHouse.ts';
import { Random } from '../support/random.ts';
import { sizeInSearch } from '../support/search.ts';
import { newChain } from '../support/sharedIndex.ts';
import { smallFileSystem, temporaryFolder } from '../support/smallFileSystem.ts';
import { type SyntheticBlock, syntheticBlock } from '../support/syntheticChain.ts';

/** Two segments. */
const [FIRST, LAST] = [1000, 1060];
/** The last block in a backup. */
const YESTERDAY = 1040;
const TABLES = ['trace_chunks', 'trace_parties', 'trace_blocks', 'trace_segments'];
const MAX_BYTES = 2 ** 26;
const LIMIT = 10_000;
const ROUNDS = 6;
/** Numbers of rows after which the engine truncates. */
const ROWS = sizeInSearch([1, 60, 200], { ordinary: [60] });
const MIB = 1024 * 1024;

type Results = Readonly<Record<string, unknown>>;

describe.skipIf(!hasClickHouse)(
  `a fault of ClickHouse never leads to a wrong result${WITHOUT_CLICKHOUSE}`,
  () => {
    const identity = newChain();
    const random = new Random(81);
    const [address] = shape.addresses as [(typeof shape.addresses)[number]];
    const range = { fromBlock: FIRST, toBlock: LAST };
    const chain: SyntheticBlock[] = [];
    const opened: { close(): Promise<void> }[] = [];
    let clickHouse: ClickHouseServer;
    let right: Results;
    beforeAll(async () => {
      for (let number = FIRST; number <= LAST; number++)
        chain.push(syntheticBlock(random, shape, { number, parentHash: chain.at(-1)?.header.hash }));
      clickHouse = await ClickHouseServer.start();
      await migrateSharedTraces(clickHouse.url());
      await write(FIRST, YESTERDAY);
      await clickHouse.query('CREATE DATABASE backup ENGINE = Atomic');
      for (const table of TABLES)
        await clickHouse.query(`CREATE TABLE backup.${table} ENGINE = Memory AS SELECT * FROM ${table}`);
      await write(YESTERDAY + 1, LAST);
      right = await results(newReader());
      for (const [read, result] of Object.entries(right)) expect(result, read).toBeTypeOf('string');
    });
    afterAll(async () => {
      for (const one of opened) await one.close();
      await clickHouse?.remove();
    });

    function open(url: string) {
      const traces = openSharedTraces(url);
      opened.push(traces);
      return traces;
    }
    const newReader = (url = clickHouse.url()): SharedReader => open(url).reader(identity);
    const write = (fromBlock: number, toBlock: number, url = clickHouse.url()): Promise<number> =>
      open(url)
        .writer(identity)
        .write(
          chain
            .slice(fromBlock - FIRST, toBlock + 1 - FIRST)
            .map(({ header, traces }) => indexBlock(header, traces)),
        );

    /** Returns the results of all kinds of reads as JSON, undefined for a missing block, or the errors. */
    async function results(reader: SharedReader): Promise<Results> {
      const filter = async (change: Partial<TraceFilter>) => {
        const all = {
          ...range,
          fromAddresses: [],
          toAddresses: [],
          mode: 'union',
          after: 0,
          count: 200,
        } as const;
        const part = await reader.filter({ ...all, ...change }, { maxBytes: MAX_BYTES });
        return part && [Buffer.from(part.bytes).toString(), part.found, part.matches];
      };
      const history = async (addresses: 'all' | [typeof address], order: 'asc' | 'desc') => {
        const query = { addresses, direction: 'either', order, filter: {}, limit: LIMIT, ...range } as const;
        const json = new JsonWriter();
        const page = await reader.addressTraces({ query }, { maxBytes: MAX_BYTES, json });
        return { traces: JSON.parse(json.written().toString()), ...page };
      };
      const hash = chain.at(-2)?.header.transactionHashes[0] as Hash; // the block has transactions
      const limits = { maxBytes: MAX_BYTES };
      const text = (bytes: Buffer | null | undefined) => bytes?.toString();
      const reads = {
        'filter by sender': filter({ fromAddresses: [address] }),
        'filter by both': filter({
          fromAddresses: [address],
          toAddresses: shape.addresses,
          mode: 'intersection',
          after: 3,
        }),
        'filter without addresses': filter({ after: 30 }),
        'traces of a block': reader.blockTraces(LAST - 3, MAX_BYTES).then(text),
        'traces of a transaction': reader.transactionTraces(hash, limits).then(text),
        'trace of a transaction': reader.transactionTrace(hash, [], limits).then(text),
        'history, ascending': history([address], 'asc'),
        'history, descending': history([address], 'desc'),
        'history of all': history('all', 'desc'),
        summary: reader.addressSummary({ query: { address, ...range } }),
        'last block': reader.lastBlock(2 * LAST),
        'missing blocks': reader.missingIn(FIRST - 1, LAST + 1),
      };
      const settled = await Promise.allSettled(Object.values(reads));
      return Object.fromEntries(Object.keys(reads).map((read, i) => [read, outcomeOf(settled[i])]));
    }

    const outcomeOf = (settled: PromiseSettledResult<unknown> | undefined): unknown =>
      settled?.status === 'fulfilled'
        ? JSON.stringify(settled.value, (_, value) => (typeof value === 'bigint' ? `${value}` : value))
        : settled?.reason;

    /** Checks that each result is right or an error. */
    function expectNoneWrong(found: Results, fault: string): void {
      for (const [read, result] of Object.entries(found))
        if (!(result instanceof TraceStoreUnavailable)) expect(result, `${fault}: ${read}`).toBe(right[read]);
    }

    /** Checks that each result is right, an error, or reports the blocks that it lacks. */
    function expectNoneHidden(found: Results, fault: string): void {
      for (const [read, result] of Object.entries(found)) {
        if (result === undefined || result === right[read] || result instanceof TraceStoreUnavailable)
          continue;
        if (read === 'last block' || read === 'missing blocks') continue;
        const { missing, traces } = JSON.parse(String(result)) as { missing: BlockRange[]; traces: Trace[] };
        expect(missing, `${fault}: ${read}`).not.toEqual([]);
        if (read === 'summary') continue;
        const isMissing = ({ blockNumber }: Trace): boolean =>
          missing.some(({ fromBlock, toBlock }) => blockNumber >= fromBlock && blockNumber <= toBlock);
        const whole = JSON.parse(String(right[read])) as { traces: Trace[] };
        expect(traces, `${fault}: ${read}`).toEqual(whole.traces.filter((trace) => !isMissing(trace)));
      }
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
        for (const rows of ROWS) {
          await clickHouse.query(`SET max_block_size = 8, ${limit} = ${rows}, ${mode} = '${value}'`);
          const found = await results(newReader());
          await clickHouse.query(`SET max_block_size = DEFAULT, ${limit} = DEFAULT, ${mode} = DEFAULT`);
          expectNoneWrong(found, `${limit} = ${rows}, ${mode} = ${value}`);
        }
      expect(await results(newReader())).toEqual(right);
    });

    it('if a table is dropped while a server runs, created again, and restored', async () => {
      for (const table of TABLES) {
        const reader = newReader();
        expect(await results(reader)).toEqual(right);
        await clickHouse.query(`RENAME TABLE ${table} TO away`);
        expectNoneWrong(await results(reader), `${table} is dropped`);
        await migrateSharedTraces(clickHouse.url());
        expectNoneHidden(await results(reader), `${table} is empty`);
        await clickHouse.query(`INSERT INTO ${table} SELECT * FROM backup.${table}`);
        expectNoneHidden(await results(reader), `${table} is restored from a backup`);
        await clickHouse.query(`DROP TABLE ${table}`);
        await clickHouse.query(`RENAME TABLE away TO ${table}`);
        expect(await results(reader)).toEqual(right);
      }
    });

    it('if a replica was restored from a backup', async () => {
      const restored = await ClickHouseServer.start();
      onTestFinished(() => restored.remove());
      await migrateSharedTraces(restored.url());
      const folder = temporaryFolder();
      for (const table of TABLES) {
        const file = `file('${join(folder, table)}', 'Native')`;
        await clickHouse.query(`INSERT INTO FUNCTION ${file} SELECT * FROM backup.${table}`);
        await restored.query(`INSERT INTO ${table} SELECT * FROM ${file}`);
      }
      const reader = newReader(clickHouse.url().replace(/:\d+\//, `:${restored.port},127.0.0.1$&`));
      for (let round = 0; round < ROUNDS; round++) {
        const found = await results(reader);
        expectNoneHidden(found, `round ${round}`);
        for (const read of ['filter by sender', 'traces of a block', 'trace of a transaction'])
          expect(found[read], read).toBe(right[read]);
      }
      // The restored replica alone.
      expectNoneHidden(await results(newReader(restored.url())), 'restored');
    });

    /** Starts a proxy of ClickHouse that changes the responses. Returns its port. */
    async function startProxy(
      change: (bytes: Buffer) => { bytes: Buffer; length?: number },
    ): Promise<number> {
      const proxy = createServer(async (asked, answer) => {
        const { method, headers, url = '' } = asked;
        const forwarded = request({ port: clickHouse.port, method, headers, path: url });
        forwarded.end(await buffer(asked));
        const [response] = await once(forwarded, 'response');
        const { bytes, length = bytes.length } = change(await buffer(response));
        answer.writeHead(response.statusCode, { 'Content-Length': length });
        answer.write(bytes, () => (bytes.length < length ? answer.destroy() : answer.end()));
      });
      await once(proxy.listen(0, '127.0.0.1'), 'listening');
      onTestFinished(() => {
        proxy.close();
        proxy.closeAllConnections();
      });
      return (proxy.address() as AddressInfo).port;
    }

    it('if a proxy truncates responses', async () => {
      let truncated = 0;
      const port = await startProxy((whole) => {
        if (random.chance(0.7)) return { bytes: whole };
        truncated++;
        const bytes = whole.subarray(0, random.below(whole.length));
        // A client notices a connection that is closed early, but not a shorter body.
        return { bytes, length: random.chance(0.5) ? whole.length : bytes.length };
      });
      for (let round = 0; round < ROUNDS; round++)
        expectNoneWrong(await results(newReader(clickHouse.url({ port }))), `round ${round}`);
      expect(truncated).toBeGreaterThan(ROUNDS);
    });

    it('if a proxy returns responses of other requests', async () => {
      const others: Buffer[] = [];
      let replaced = 0;
      const port = await startProxy((bytes) => {
        others.push(bytes);
        if (random.chance(0.7)) return { bytes };
        replaced++;
        return { bytes: random.pick(others) };
      });
      for (let round = 0; round < ROUNDS; round++)
        expectNoneWrong(await results(newReader(clickHouse.url({ port }))), `round ${round}`);
      expect(replaced).toBeGreaterThan(ROUNDS);
    });

    it('if its disk is full', async (context) => {
      const { folder } = smallFileSystem(context, 128 * MIB);
      const small = await ClickHouseServer.start(folder);
      onTestFinished(() => small.remove());
      await migrateSharedTraces(small.url());
      await write(FIRST, YESTERDAY, small.url());
      const reader = newReader(small.url());
      const filler = join(folder, 'filler');
      expect(() => writeFileSync(filler, Buffer.alloc(128 * MIB))).toThrow('ENOSPC');
      await expect(write(YESTERDAY + 1, LAST, small.url())).rejects.toThrow(TraceStoreUnavailable);
      expectNoneHidden(await results(reader), 'full');
      rmSync(filler);
      await write(YESTERDAY + 1, LAST, small.url());
      expect(await results(reader)).toEqual(right);
    });
  },
);
