import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openClickHouseTraces, TraceStoreUnavailable } from '../../src/ethereum/store/clickhouse/index.ts';
import {
  type Address,
  type Hash,
  indexBlock,
  JsonWriter,
  MAX_COUNT,
  type Quantity,
  type Trace,
  type TraceStore,
} from '../../src/ethereum/traces/index.ts';
import { QUIET } from '../../src/platform/logging/index.ts';
import { add, GrowingChain, shape } from '../contract/growingChain.ts';
import { compareSome } from '../contract/traceStore.ts';
import { ClickHouseServer, hasClickHouse, WITHOUT_CLICKHOUSE } from '../support/clickHouse.ts';
import { CuttingProxy } from '../support/cuttingProxy.ts';
import { Postgres, postgresFolder, WITHOUT_POSTGRES } from '../support/postgres.ts';
import { Random } from '../support/random.ts';
import { type SyntheticBlock, syntheticAddresses, syntheticBlock } from '../support/syntheticChain.ts';
import { until } from '../support/until.ts';

const MAX_BYTES = 64 * 1024 * 1024;
const FILTERS = Number(process.env['FLOODGATE_TEST_FILTERS'] ?? 400);
const ROUNDS = 40;

/** Statements at which connections are cut while a change is written to ClickHouse or confirmed in PostgreSQL. */
const CUTS = [
  { store: 'clickHouse', word: 'INSERT+INTO+trace_chunks' },
  { store: 'clickHouse', word: 'INSERT+INTO+by_address' },
  { store: 'clickHouse', word: 'ALTER TABLE' },
  { store: 'postgres', word: 'INSERT INTO floodgate_traces.blocks' },
  { store: 'postgres', word: 'SET is_canonical = true' },
  { store: 'postgres', word: 'COMMIT' },
] as const;

describe.skipIf(!hasClickHouse || postgresFolder === undefined)(
  `the index on ClickHouse${WITHOUT_CLICKHOUSE}${WITHOUT_POSTGRES}`,
  () => {
    let postgres: Postgres;
    let clickHouse: ClickHouseServer;
    const proxies = {} as Record<'clickHouse' | 'postgres', CuttingProxy>;
    beforeAll(async () => {
      [postgres, clickHouse] = await Promise.all([Postgres.start(['fsync=off']), ClickHouseServer.start()]);
      proxies.clickHouse = await CuttingProxy.start(clickHouse.port);
      proxies.postgres = await CuttingProxy.start(postgres.port);
    });
    afterAll(async () => {
      for (const proxy of Object.values(proxies)) await proxy.stop();
      await postgres?.remove();
      await clickHouse?.remove();
    });

    let networks = 0;
    const newNetwork = (): string => `network-${networks++}`;
    const open = (network: string, ports: { clickHouse?: number; postgres?: number } = {}) =>
      openClickHouseTraces(
        {
          url: clickHouse.url(ports.clickHouse === undefined ? {} : { port: ports.clickHouse }),
          postgres: postgres.url(ports.postgres === undefined ? {} : { port: ports.postgres }),
          network,
        },
        { log: QUIET },
      );
    const openThroughProxies = (network: string) =>
      open(network, { clickHouse: proxies.clickHouse.port, postgres: proxies.postgres.port });
    const filterOf = (fromBlock: number, toBlock: number) => ({
      ...{ fromBlock, toBlock, fromAddresses: shape.addresses.slice(0, 1) as Address[], toAddresses: [] },
      ...{ mode: 'intersection' as const, after: 0, count: MAX_COUNT },
    });
    /** Transfers the lease to another holder, as a takeover does. */
    const takeLease = (network: string) =>
      postgres.query(
        `UPDATE floodgate_traces.chains SET lease_token = lease_token + 1, lease_holder = 'another', lease_until = now() + interval '1 hour' WHERE network = '${network}'`,
      );
    const endLease = (network: string) =>
      postgres.query(`UPDATE floodgate_traces.chains SET lease_until = now() WHERE network = '${network}'`);

    it(`returns the results of a plain filter for ${FILTERS} filters during reorganisations and cut connections`, async () => {
      const network = newNetwork();
      const random = new Random(52);
      const chain = new GrowingChain(random, 1000);
      const reader = await open(network);
      let writer = await openThroughProxies(network);
      /** Repeats a failed change with a new instance, which has no state of the first attempt. */
      const restarting = new Proxy(writer, {
        get: (_, name) =>
          name === 'apply'
            ? async (change: Parameters<TraceStore['apply']>[0]) => {
                for (let left = 20; ; left--)
                  try {
                    return await writer.apply(change);
                  } catch (error) {
                    if (!(error instanceof TraceStoreUnavailable) || left === 0) throw error;
                    await writer.close();
                    writer = await openThroughProxies(network);
                  }
              }
            : Reflect.get(writer, name),
      }) as TraceStore;
      await chain.grow(restarting, 5);
      for (let round = 0; round < ROUNDS; round++) {
        const { store, word } = random.pick([...CUTS]);
        if (random.chance(0.6)) proxies[store].closeNext(word, random.pick(['before', 'after']));
        const step = random.below(10);
        if (step < 5) await chain.grow(restarting, random.between(1, 25));
        else if (step < 8) await chain.reorganise(restarting);
        else await chain.finalize(restarting);
        await compareSome(reader, chain, FILTERS / ROUNDS);
      }
      expect(proxies.clickHouse.cuts + proxies.postgres.cuts).toBeGreaterThan(5);
      expect((await reader.head())?.number).toBe(chain.next - 1);
      for (const proxy of Object.values(proxies)) proxy.closeNext('no such word', 'before');
      await writer.close();
      await reader.close();
    });

    it('deletes the rows of replaced blocks when their height becomes final', async () => {
      const network = newNetwork();
      const store = await open(network);
      const chain = new GrowingChain(new Random(53), 100);
      await chain.grow(store, 10);
      await chain.reorganise(store);
      const [{ id } = {}] = await postgres.query(
        `SELECT id FROM floodgate_traces.chains WHERE network = '${network}'`,
      );
      const dead = async () =>
        Number(
          await clickHouse.query(
            `SELECT uniqExact(number, attempt) - uniqExact(number) FROM by_address WHERE chain = ${id}`,
          ),
        );
      expect(await dead()).toBeGreaterThan(0);
      await store.apply({ blocks: [], finalizedNumber: chain.next - 1 });
      expect(await dead()).toBe(0);
      await compareSome(store, chain, 20);
      await store.close();
    });

    it('fails instead of answering if rows are missing or duplicated', async () => {
      const network = newNetwork();
      const store = await open(network);
      const chain = new GrowingChain(new Random(54), 100);
      await chain.grow(store, 10);
      const [{ id } = {}] = await postgres.query(
        `SELECT id FROM floodgate_traces.chains WHERE network = '${network}'`,
      );
      const filter = filterOf(100, 109);
      await compareSome(store, chain, 5);
      const one = `chain = ${id} AND number = 104 AND trace_index = 0`;
      const columns = 'chain, address, number, trace_index, attempt, sides, attributes, value';
      await clickHouse.query(
        `CREATE TABLE kept ENGINE = Memory AS SELECT ${columns} FROM by_address WHERE ${one}`,
      );
      await clickHouse.query(`ALTER TABLE by_address DELETE WHERE ${one} SETTINGS mutations_sync = 2`);
      await expect(store.filter(filter, MAX_BYTES)).rejects.toThrow(/block 104 has \d+ of \d+ rows/);
      const history = {
        addresses: filter.fromAddresses,
        direction: 'from',
        order: 'asc',
        filter: {},
      } as const;
      await expect(
        store.addressTraces({ ...history, toBlock: 109, limit: 10 }, MAX_BYTES, new JsonWriter()),
      ).rejects.toThrow(TraceStoreUnavailable);
      await clickHouse.query(`INSERT INTO by_address (${columns}) SELECT ${columns} FROM kept`);
      await compareSome(store, chain, 5);
      await clickHouse.query(`INSERT INTO by_address (${columns}) SELECT ${columns} FROM kept`);
      await expect(store.filter(filter, MAX_BYTES)).rejects.toThrow(TraceStoreUnavailable);
      await clickHouse.query(
        `ALTER TABLE trace_chunks DELETE WHERE chain = ${id} AND number = 107 SETTINGS mutations_sync = 2`,
      );
      await expect(store.blockTraces(107, MAX_BYTES)).rejects.toThrow(/chunk 0 of block 107 is not/);
      await store.close();
    });

    it('reads only the rows of the requested addresses, not those of the whole range', async () => {
      const store = await open(newNetwork());
      const busy = { addresses: syntheticAddresses(400), maxTransactions: 100, maxFrames: 8 };
      const random = new Random(57);
      const blocks: SyntheticBlock[] = [];
      for (let number = 100; number < 120; number++)
        blocks.push(syntheticBlock(random, busy, { number, parentHash: blocks.at(-1)?.header.hash }));
      await add(store, blocks);
      const [one, two] = busy.addresses.slice(200) as [Address, Address];
      const filter = { ...filterOf(100, 119), fromAddresses: [one] };
      // The table has about 10,000 rows, which the engine reads in granules of 1,024.
      await clickHouse.query('SET max_rows_to_read = 5000');
      for (const asked of [filter, { ...filter, toAddresses: [two], mode: 'union' as const }])
        expect(await store.filter(asked, MAX_BYTES)).not.toHaveLength('[]'.length);
      await clickHouse.query('SET max_rows_to_read = DEFAULT');
      await store.close();
    });

    it('lets one instance write while others wait', async () => {
      const network = newNetwork();
      const [first, second] = [await open(network), await open(network)];
      const chain = new GrowingChain(new Random(55), 10);
      await chain.grow(first, 3);
      const next = syntheticBlock(chain.random, shape, {
        number: 13,
        parentHash: chain.blocks.get(12)?.header.hash,
      });
      const waiting = add(second, [next]);
      await add(first, [next]);
      await waiting;
      const [{ rows } = {}] = await postgres.query(
        `SELECT count(*)::int AS rows FROM floodgate_traces.blocks JOIN floodgate_traces.chains c ON chain = c.id WHERE network = '${network}'`,
      );
      expect(rows).toBe(4);
      // close() releases the lease, so another instance can write at once.
      await first.close();
      chain.put(next);
      chain.next = 14;
      await chain.grow(second, 2);
      await compareSome(second, chain, 10);
      await second.close();
    });

    it('lets another instance take over from one that disappeared without releasing its lease', async () => {
      const network = newNetwork();
      const gone = await openThroughProxies(network);
      const chain = new GrowingChain(new Random(56), 10);
      await chain.grow(gone, 3);
      proxies.postgres.isClosed = true;
      const other = await open(network);
      await chain.grow(other, 2);
      await compareSome(other, chain, 10);
      proxies.postgres.isClosed = false;
      await other.close();
      await gone.close();
    });

    it('discards the change of an instance that was paused while another took over', async () => {
      const network = newNetwork();
      const chain = new GrowingChain(new Random(57), 10);
      const held = new HoldingProxy(clickHouse.port);
      await held.listen();
      const [old, other] = [await open(network, { clickHouse: held.port }), await open(network)];
      await chain.grow(old, 5);
      const parentHash = chain.blocks.get(14)?.header.hash;
      const stale = syntheticBlock(chain.random, shape, { number: 15, parentHash });
      held.hold('INSERT+INTO+by_address');
      const written = add(old, [stale]).catch((error: unknown) => error);
      await until('the rows to be sent', () => held.isHolding);
      await takeLease(network);
      await endLease(network);
      await chain.grow(other, 4);
      await chain.finalize(other);
      held.release();
      expect(await written).toBeInstanceOf(TraceStoreUnavailable);
      await compareSome(other, chain, 30);
      expect((await other.head())?.number).toBe(chain.next - 1);
      await other.close();
      await old.close();
      await held.close();
    });

    it('fails after the loss of one database, and can be indexed again', async () => {
      const [network, urlOf] = [newNetwork(), (database: string) => postgres.url({ database })];
      const opened = (database: string) =>
        openClickHouseTraces({ url: clickHouse.url(), postgres: urlOf(database), network }, { log: QUIET });
      for (const database of ['before', 'after']) await postgres.query(`CREATE DATABASE ${database}`);
      const store = await opened('before');
      const chain = new GrowingChain(new Random(60), 100);
      await chain.grow(store, 10);
      await store.close();
      // Without PostgreSQL's tables the rows are not valid, and stay invalid when their blocks are indexed again.
      const anew = await opened('after');
      expect(await anew.head()).toBeUndefined();
      expect(await anew.filter(filterOf(100, 109), MAX_BYTES)).toBeUndefined();
      await add(anew, [...chain.blocks.values()]);
      await compareSome(anew, chain, 20);
      for (const table of ['by_address', 'trace_chunks']) await clickHouse.query(`TRUNCATE TABLE ${table}`);
      await expect(anew.filter(filterOf(100, 109), MAX_BYTES)).rejects.toThrow(TraceStoreUnavailable);
      await expect(anew.blockTraces(104, MAX_BYTES)).rejects.toThrow(TraceStoreUnavailable);
      await expect(
        anew.addressSummary({ address: shape.addresses[0] as Address, fromBlock: 100, toBlock: 109 }),
      ).rejects.toThrow(TraceStoreUnavailable);
      await anew.close();
    });

    it('returns the block written after PostgreSQL lost its newest commit, not the lost block', async () => {
      const network = newNetwork();
      const store = await open(network);
      const chain = new GrowingChain(new Random(62), 100);
      await chain.grow(store, 10);
      const tables = ['chains', 'blocks', 'segments'];
      for (const table of tables)
        await postgres.query(`CREATE TABLE saved_${table} AS TABLE floodgate_traces.${table}`);
      const lost = syntheticBlock(new Random(63), shape, {
        number: chain.next,
        parentHash: chain.blocks.get(chain.next - 1)?.header.hash,
      });
      await add(store, [lost]);
      await store.close();
      for (const table of tables)
        await postgres.query(
          `TRUNCATE floodgate_traces.${table}; INSERT INTO floodgate_traces.${table} TABLE saved_${table}; DROP TABLE saved_${table}`,
        );
      // Has as many rows as the lost block, so that a row count cannot distinguish them.
      const hash = `0x${'0b'.repeat(32)}` as const;
      const replaced: SyntheticBlock = {
        header: { ...lost.header, hash: hash as Hash },
        traces: lost.traces.map((trace) => ({
          ...trace,
          blockHash: hash as Hash,
          ...(trace.type === 'call' && { action: { ...trace.action, gas: '0x7' as Quantity } }),
        })) as Trace[],
      };
      expect(replaced.traces).not.toEqual(lost.traces.map((trace) => ({ ...trace, blockHash: hash })));
      const after = await open(network);
      // An attempt with rows of both blocks is rejected; the indexer retries.
      await add(after, [replaced]).catch((error: unknown) => {
        expect(error).toBeInstanceOf(TraceStoreUnavailable);
        return add(after, [replaced]);
      });
      chain.put(replaced);
      chain.next++;
      await compareSome(after, chain, 30);
      const bytes = await after.blockTraces(replaced.header.number, MAX_BYTES);
      expect(JSON.parse(Buffer.from(bytes ?? []).toString())).toEqual(replaced.traces);
      await after.close();
    });

    it('detects an error within a started response, and does not expose the password', async () => {
      const network = newNetwork();
      const store = await open(network);
      await new GrowingChain(new Random(58), 10).grow(store, 3);
      await store.close();
      const lying = createServer((request, response) => {
        request.resume();
        const isQuestion = request.headers['content-length'] !== '0';
        response.writeHead(200, { 'Content-Type': 'application/octet-stream' });
        response.write(isQuestion ? Buffer.from('DOLF\x02\x0a') : '');
        response.end('Code: 241. DB::Exception: Memory limit (total) exceeded. (MEMORY_LIMIT_EXCEEDED)');
      });
      await new Promise<void>((resolve) => lying.listen(0, '127.0.0.1', resolve));
      const { port } = lying.address() as AddressInfo;
      const reader = await open(network, { clickHouse: port });
      const failure = await reader.filter(filterOf(10, 12), MAX_BYTES)?.catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(TraceStoreUnavailable);
      expect(String(failure)).toContain('Memory limit');
      await reader.close();
      lying.close();
      const refused = await openClickHouseTraces(
        { url: clickHouse.url({ password: 'a wrong secret' }), postgres: postgres.url(), network },
        { log: QUIET },
      ).catch((error: unknown) => error);
      expect(refused).toBeInstanceOf(TraceStoreUnavailable);
      expect(`${refused} ${JSON.stringify(refused)}`).not.toContain('secret');
    });

    it('creates its tables on a ClickHouse release without automatic statistics', async () => {
      const older = await ClickHouseServer.start();
      const proxy = new HoldingProxy(older.port);
      await proxy.listen();
      proxy.unknownSetting = 'auto_statistics_types';
      const store = await openClickHouseTraces(
        { url: older.url({ port: proxy.port }), postgres: postgres.url(), network: newNetwork() },
        { log: QUIET },
      );
      expect(proxy.refusals).toBe(2);
      const chain = new GrowingChain(new Random(61), 100);
      await chain.grow(store, 10);
      await compareSome(store, chain, 10);
      await store.close();
      await proxy.close();
      await older.remove();
    });

    it('ignores a change that is applied twice', async () => {
      const network = newNetwork();
      const store = await open(network);
      const block = syntheticBlock(new Random(59), shape, { number: 5 });
      const change = { blocks: [indexBlock(block.header, block.traces)] };
      await store.apply(change);
      const count = () => clickHouse.query('SELECT count() FROM by_address');
      const before = await count();
      await store.apply(change);
      expect(await count()).toBe(before);
      await store.close();
    });
  },
);

/** A proxy of ClickHouse that can delay a request until `release`, or reject a setting as unknown. */
class HoldingProxy {
  readonly #target: number;
  readonly #server = createServer({ maxHeaderSize: 1024 * 1024 }, (request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', async () => {
      if (this.#word !== undefined && request.url?.includes(this.#word)) {
        this.#word = undefined;
        await new Promise<void>((resolve) => {
          this.#release = resolve;
        });
      }
      if (this.unknownSetting !== undefined && Buffer.concat(pieces).includes(this.unknownSetting)) {
        this.refusals++;
        response.writeHead(500, { 'X-ClickHouse-Exception-Code': '115' });
        response.end(
          `Code: 115. DB::Exception: Unknown setting '${this.unknownSetting}': for storage MergeTree. (UNKNOWN_SETTING)`,
        );
        return;
      }
      const { host: _, connection: __, 'transfer-encoding': ___, ...headers } = request.headers;
      const answer = await fetch(`http://127.0.0.1:${this.#target}${request.url}`, {
        method: 'POST',
        headers: headers as Record<string, string>,
        body: Buffer.concat(pieces),
      });
      response.writeHead(answer.status, [...answer.headers].filter(([name]) => name.startsWith('x-')).flat());
      response.end(Buffer.from(await answer.arrayBuffer()));
    });
  });
  unknownSetting: string | undefined;
  refusals = 0;
  #word: string | undefined;
  #release: (() => void) | undefined;

  constructor(target: number) {
    this.#target = target;
  }

  async listen(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get isHolding(): boolean {
    return this.#release !== undefined;
  }

  hold(word: string): void {
    this.#word = word;
  }

  release(): void {
    this.#release?.();
    this.#release = undefined;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
