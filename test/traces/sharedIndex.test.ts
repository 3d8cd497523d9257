import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  BadTraceStore,
  migrateSharedTraces,
  openSharedTraces,
  type SharedReader,
  type SharedWriter,
  TraceStoreUnavailable,
} from '../../src/ethereum/store/shared/index.ts';
import {
  type Address,
  type ChainIdentity,
  type Hash,
  type HistoryPosition,
  IndexConflictError,
  type IndexedBlock,
  indexBlock,
  indexUnavailable,
  JsonWriter,
  type TraceFilter,
  type TraceStore,
} from '../../src/ethereum/traces/index.ts';
import { GrowingChain, shape } from '../contract/growingChain.ts';
import { compareSome } from '../contract/traceStore.ts';
import { ClickHouseServer, hasClickHouse, WITHOUT_CLICKHOUSE } from '../support/clickHouse.ts';
import { type Cut, CuttingProxy } from '../support/cuttingProxy.ts';
import { referenceFilter } from '../support/plainFilter.ts';
import { plainSummary, referenceHistory } from '../support/plainHistory.ts';
import { Random } from '../support/random.ts';
import { sizeInSearch } from '../support/search.ts';
import { newChain } from '../support/sharedIndex.ts';
import { type SyntheticBlock, syntheticBlock } from '../support/syntheticChain.ts';
import { stringifyTraces } from '../support/textOfTraces.ts';

const MAX_BYTES = 64 * 1024 * 1024;
const ROUNDS = sizeInSearch(100, { ordinary: 12 });
const FILTERS_PER_ROUND = sizeInSearch(20, { ordinary: 8 });
const TABLES = ['trace_chunks', 'trace_parties', 'trace_blocks', 'trace_segments'] as const;
const CUTS: Cut[] = ['after, for good', 'before', 'after'];
const [ADDRESS = '0x' as Address] = shape.addresses;

const indexed = ({ header, traces }: SyntheticBlock): IndexedBlock => indexBlock(header, traces);

/** The part of a store that `compareSome` uses. */
const asStore = (reader: SharedReader): TraceStore => {
  const store: Pick<TraceStore, 'filter'> = {
    filter: async (filter: TraceFilter, maxBytes: number) =>
      (await reader.filter(filter, { maxBytes }))?.bytes,
  };
  return store as TraceStore; // no other method is called
};

describe.skipIf(!hasClickHouse)(`the shared index${WITHOUT_CLICKHOUSE}`, () => {
  let [first, second]: ClickHouseServer[] = [];
  let proxy: CuttingProxy;
  const opened: { close(): Promise<void> }[] = [];
  beforeAll(async () => {
    [first, second] = await Promise.all([ClickHouseServer.start(), ClickHouseServer.start()]);
    for (const server of [first, second]) await migrateSharedTraces(server.url());
    proxy = await CuttingProxy.start(first.port);
  });
  afterAll(async () => {
    for (const one of opened) await one.close();
    await proxy?.stop();
    await first?.remove();
    await second?.remove();
  });

  const server = (): ClickHouseServer => first as ClickHouseServer; // started in beforeAll
  const open = (
    chain: ChainIdentity,
    url = server().url(),
  ): { reader: SharedReader; writer: SharedWriter } => {
    const traces = openSharedTraces(url);
    opened.push(traces);
    return { reader: traces.reader(chain), writer: traces.writer(chain) };
  };
  const throughProxy = (chain: ChainIdentity) => open(chain, server().url({ port: proxy.port }));
  const query = (sql: string) => server().query(sql);
  /** Blocks of a chain that only grows, in memory. */
  const newBlocks = (chain: GrowingChain, count: number): SyntheticBlock[] =>
    Array.from({ length: count }, () => {
      const parentHash = chain.blocks.get(chain.next - 1)?.header.hash;
      const block = syntheticBlock(chain.random, shape, { number: chain.next++, parentHash });
      chain.put(block);
      return block;
    });
  const filterOf = (fromBlock: number, toBlock: number): TraceFilter => ({
    fromBlock,
    toBlock,
    fromAddresses: [ADDRESS],
    toAddresses: [],
    mode: 'intersection',
    after: 0,
    count: 200,
  });

  /** Compares a whole history and its summary with plain ones. */
  async function compareHistory(reader: SharedReader, chain: GrowingChain): Promise<void> {
    const [fromBlock = 0, toBlock = 0] = [chain.numbers[0], chain.numbers.at(-1)];
    const range = { fromBlock, toBlock };
    const asked = { direction: 'either', order: 'desc', filter: {}, limit: 200 } as const;
    const history = { ...asked, addresses: [ADDRESS], ...range };
    const json = new JsonWriter();
    const page = await reader.addressTraces({ query: history }, { maxBytes: MAX_BYTES, json });
    const expected = referenceHistory(chain.traces, history, range).slice(0, 200);
    expect(JSON.parse(json.written().toString())).toEqual(expected);
    expect(page.missing).toEqual([]);
    const summary = await reader.addressSummary({ query: { address: ADDRESS, ...range } });
    expect(summary.counts.by).toEqual(plainSummary(chain.traces, ADDRESS, range).counts);
  }

  /** Compares all pages of histories in both orders, and a summary, with plain ones. */
  async function comparePages(reader: SharedReader, chain: GrowingChain): Promise<void> {
    const [fromBlock = 0, toBlock = 0] = [chain.numbers[0], chain.numbers.at(-1)];
    const range = { fromBlock, toBlock };
    const queries = [
      { order: 'asc', addresses: [ADDRESS], filter: {}, limit: 60 },
      { order: 'desc', addresses: shape.addresses.slice(0, 3), filter: { minValue: 1n }, limit: 100 },
      { order: 'desc', addresses: 'all', filter: { failed: true, callsCarryValue: true }, limit: 200 },
    ] as const;
    for (const query of queries) {
      const asked = { ...query, direction: 'either', ...range } as const;
      const found: unknown[] = [];
      let cursor: HistoryPosition | undefined;
      do {
        const json = new JsonWriter();
        const page = await reader.addressTraces(
          { query: { ...asked, cursor } },
          { maxBytes: MAX_BYTES, json },
        );
        found.push(...(JSON.parse(json.written().toString()) as unknown[]));
        expect(page.missing).toEqual([]);
        cursor = page.next;
      } while (cursor !== undefined);
      const expected = JSON.parse(stringifyTraces(referenceHistory(chain.traces, asked, range)));
      expect(found, JSON.stringify([query.order, query.addresses])).toEqual(expected);
    }
    const summary = await reader.addressSummary({ query: { address: ADDRESS, ...range } });
    const { counts, value, firstBlock, lastBlock } = plainSummary(chain.traces, ADDRESS, range);
    expect({ ...summary, counts: summary.counts.by, value: summary.value.by }).toMatchObject({
      counts,
      value,
      firstBlock,
      lastBlock,
    });
  }

  it('returns exact results for random filters while writers are killed between their statements', async () => {
    const identity = newChain();
    const chain = new GrowingChain(new Random(52), 1000);
    const { reader } = open(identity);
    const words = TABLES.map((table) => `INSERT+INTO+${table}`);
    let failed = 0;
    for (let round = 0; round < ROUNDS; round++) {
      const blocks = newBlocks(chain, chain.random.between(1, 40)).map(indexed);
      const [isCut, cut] = [chain.random.chance(0.8), chain.random.pick(CUTS)];
      if (isCut) proxy.closeNext(chain.random.pick(words), cut);
      for (let isWritten = false; !isWritten; )
        try {
          await throughProxy(identity).writer.write(blocks);
          isWritten = true;
        } catch (error) {
          expect(error).toBeInstanceOf(TraceStoreUnavailable);
          failed++;
          proxy.isClosed = false;
        }
      proxy.isClosed = false;
      await compareSome(asStore(reader), chain, FILTERS_PER_ROUND);
      if (round % 4 === 0) await compareHistory(reader, chain);
    }
    expect(failed).toBeGreaterThan(0);
    await compareHistory(reader, chain);
  });

  it('stores each block once for readers if two writers write equal and overlapping ranges', async () => {
    const identity = newChain();
    const chain = new GrowingChain(new Random(53), 500);
    const [one, other] = [open(identity), open(identity)];
    for (let round = 0; round < 3; round++) {
      const blocks = newBlocks(chain, 20).map(indexed);
      await Promise.all([
        one.writer.write(blocks.slice(0, 15)),
        other.writer.write(blocks.slice(round)),
        one.writer.write(blocks),
      ]);
      await compareSome(asStore(one.reader), chain, 8);
      await compareHistory(other.reader, chain);
    }
  });

  it('prefers the block of a source that has all frames, whichever writer is the last', async () => {
    for (const isExactLast of [true, false]) {
      const identity = newChain();
      const chain = new GrowingChain(new Random(54), 500);
      const { reader, writer } = open(identity);
      const exact = newBlocks(chain, 8).map(indexed);
      const less = [...chain.blocks.values()].map(({ header, traces }) => ({
        ...indexBlock(header, traces.slice(0, -1)),
        lacksFrames: true,
      }));
      for (const blocks of isExactLast ? [less, exact] : [exact, less]) await writer.write(blocks);
      await compareSome(asStore(reader), chain, 12);
      await compareHistory(reader, chain);
    }
  });

  it('replaces an unavailable block by its traces, and rejects blocks that do not fit', async () => {
    const chain = new GrowingChain(new Random(55), 500);
    const { reader, writer } = open(newChain());
    const [a, b, c] = newBlocks(chain, 3) as [SyntheticBlock, SyntheticBlock, SyntheticBlock];
    await writer.write([indexed(a), indexUnavailable(b.header, 'timeout'), indexed(c)]);
    expect(await reader.filter(filterOf(500, 502), { maxBytes: MAX_BYTES })).toBeUndefined();
    expect(await reader.unavailable(0, 1000, 10)).toMatchObject([{ number: 501, unavailable: 'timeout' }]);
    expect(await writer.write([indexed(b)])).toBe(1);
    expect(await writer.write([indexUnavailable(b.header, 'timeout'), indexed(c)])).toBe(0);
    await compareSome(asStore(reader), chain, 10);
    const stranger = syntheticBlock(new Random(1), shape, { number: 503 });
    await expect(writer.write([indexed(stranger)])).rejects.toThrow(IndexConflictError);
    const other = syntheticBlock(new Random(2), shape, { number: 501 });
    await expect(writer.write([indexed(other)])).rejects.toThrow(IndexConflictError);
    await expect(
      writer.write([indexed(syntheticBlock(new Random(2), shape, { number: 499 }))]),
    ).rejects.toThrow(IndexConflictError);
  });

  it('fails instead of answering if rows are missing, duplicated or changed, until the blocks are written again', async () => {
    const identity = newChain();
    const chain = new GrowingChain(new Random(56), 2040);
    const { reader, writer } = open(identity);
    await writer.write(newBlocks(chain, 16).map(indexed));
    const key = await query(
      `SELECT any(chain) FROM trace_blocks WHERE number = 2040 AND chain IN (SELECT chain FROM trace_blocks GROUP BY chain HAVING min(number) = 2040)`,
    );
    const one = `chain = ${key} AND number = 2044`;
    const hash = chain.blocks.get(2044)?.header.transactionHashes[0] as Hash;
    const unknown = new Random(9).hex(32) as Hash;
    const limits = { maxBytes: MAX_BYTES };
    const damages = [
      {
        damage: `ALTER TABLE trace_parties DELETE WHERE ${one} AND trace_index = 0 SETTINGS mutations_sync = 2`,
        history: true,
      },
      {
        // Earlier repairs left rows of other writes, which readers ignore.
        damage: `INSERT INTO trace_parties SELECT * FROM trace_parties WHERE ${one}
          AND write = (SELECT argMax(write, version) FROM trace_blocks WHERE ${one}) LIMIT 1`,
        history: true,
      },
      { damage: `ALTER TABLE trace_chunks DELETE WHERE ${one} SETTINGS mutations_sync = 2`, history: false },
      {
        damage: `ALTER TABLE trace_chunks UPDATE bytes = concat(substring(bytes, 1, length(bytes) - 1), 'x') WHERE ${one} SETTINGS mutations_sync = 2`,
        history: false,
      },
      {
        damage: `ALTER TABLE trace_blocks UPDATE hash = parent WHERE ${one} SETTINGS mutations_sync = 2`,
        history: false,
      },
    ];
    for (const { damage, history } of damages) {
      await compareHistory(reader, chain);
      await query(damage);
      const all = { ...filterOf(2040, 2055), fromAddresses: [...shape.addresses] };
      await expect(reader.filter(all, limits), damage).rejects.toThrow(TraceStoreUnavailable);
      await expect(
        reader.blockTraces(2044, MAX_BYTES).then(() => reader.filter(all, limits)),
        damage,
      ).rejects.toThrow(TraceStoreUnavailable);
      if (history) {
        await expect(compareHistory(reader, chain), damage).rejects.toThrow(TraceStoreUnavailable);
        await expect(reader.transactionTraces(unknown, limits), damage).rejects.toThrow(
          TraceStoreUnavailable,
        );
      } else
        await expect(reader.transactionTraces(hash, limits), damage).rejects.toThrow(TraceStoreUnavailable);
      const repaired = [2043, 2044, 2045].map((number) =>
        indexed(chain.blocks.get(number) as SyntheticBlock),
      );
      await writer.write(repaired, { again: true });
      await compareSome(asStore(reader), chain, 10);
      expect(await reader.transactionTraces(unknown, limits)).toBeUndefined();
    }
  });

  it('returns exact results with at most 16 fetched blocks if rows are missing, duplicated or changed', async () => {
    const identity = newChain();
    const chain = new GrowingChain(new Random(62), 2030);
    const { reader, writer } = open(identity);
    await writer.write(newBlocks(chain, 30).map(indexed));
    const key = await query(
      'SELECT chain FROM trace_blocks GROUP BY chain HAVING min(number) = 2030 AND max(number) = 2059',
    );
    const fetched: number[] = [];
    const fetching = reader.fetching(async (numbers) => {
      fetched.push(...numbers);
      return numbers.map((number) => indexed(chain.blocks.get(number) as SyntheticBlock)); // all are in the chain
    });
    const damages = [
      'trace_parties DELETE WHERE {} AND trace_index % 2 = 0',
      "trace_chunks UPDATE bytes = concat(bytes, 'x') WHERE {}",
      'trace_blocks UPDATE hash = parent WHERE {}',
      'trace_chunks DELETE WHERE {}',
    ];
    for (const damage of damages) {
      // Neighbours on both sides of the border of two segments, and the ends of the range.
      const where = `chain = ${key} AND (number IN (2047, 2048) OR number % 20 IN (0, 19))`;
      await query(`ALTER TABLE ${damage.replace('{}', where)} SETTINGS mutations_sync = 2`);
      await compareSome(asStore(fetching), chain, 10);
      await comparePages(fetching, chain);
      const block = chain.blocks.get(2040) as SyntheticBlock; // in the chain
      expect(String(await fetching.blockTraces(2040, MAX_BYTES))).toBe(stringifyTraces(block.traces));
      const [hash] = block.header.transactionHashes as [Hash];
      const own = block.traces.filter(({ transactionHash }) => transactionHash === hash);
      expect(String(await fetching.transactionTraces(hash, { maxBytes: MAX_BYTES }))).toBe(
        stringifyTraces(own),
      );
      expect(await fetching.transactionPosition(new Random(9).hex(32) as Hash, {})).toBeUndefined();
      expect(fetched.splice(0).length).toBeGreaterThan(0);
      await writer.write([...chain.blocks.values()].map(indexed), { again: true });
    }
    expect(await query(`SELECT count() FROM trace_blocks WHERE chain = ${key}`)).toBe(
      String(30 * (damages.length + 1)),
    );
    const many = `chain = ${key} AND number BETWEEN 2030 AND 2056`;
    await query(`ALTER TABLE trace_parties DELETE WHERE ${many} SETTINGS mutations_sync = 2`);
    const summary = { query: { address: ADDRESS, fromBlock: 2030, toBlock: 2059 } };
    await expect(fetching.addressSummary(summary)).rejects.toThrow(TraceStoreUnavailable);
    expect(fetched).toEqual([]);
  });

  it('returns the traces of a fetched block whose rows exceed the default size of a statement', async () => {
    const large = { ...shape, addresses: [ADDRESS], maxTransactions: 2_000 };
    const block = syntheticBlock(new Random(63), large, { number: 3000 });
    expect(block.traces.length).toBeGreaterThan(2_000);
    const { reader, writer } = open(newChain());
    await writer.write([indexed(block)]);
    await query('ALTER TABLE trace_parties DELETE WHERE number = 3000 SETTINGS mutations_sync = 2');
    const fetching = reader.fetching(async () => [indexed(block)]);
    const all = { ...filterOf(3000, 3000), count: 10_000 };
    const part = await fetching.filter(all, { maxBytes: MAX_BYTES });
    const expected = referenceFilter([...block.traces], all);
    expect(Buffer.from(part?.bytes ?? '').toString()).toBe(stringifyTraces(expected));
  });

  it('marks heights as missing after a finality failure, and then accepts another chain', async () => {
    const identity = newChain();
    const chain = new GrowingChain(new Random(57), 1000);
    const [{ reader, writer }, late] = [open(identity), open(identity)];
    const old = newBlocks(chain, 60);
    await writer.write(old.map(indexed));
    await compareHistory(reader, chain);
    expect(await writer.rewind(1029, 1059)).toBe(30);
    expect((await reader.lastBlock(5000))?.number).toBe(1029);
    expect(await reader.firstMissing(1000, 1059)).toBe(1030);
    expect(await reader.filter(filterOf(1020, 1030), { maxBytes: MAX_BYTES })).toBeUndefined();
    const fork = new GrowingChain(new Random(58), 1000);
    for (const block of old.slice(0, 30)) fork.put(block);
    fork.next = 1030;
    await late.writer.write(newBlocks(fork, 40).map(indexed));
    await compareSome(asStore(reader), fork, 30);
    await compareHistory(reader, fork);
    await expect(writer.write([indexed(old[40] as SyntheticBlock)])).rejects.toThrow(IndexConflictError);
    // All blocks of the second segment, then those of the first one.
    expect(await writer.rewind(1009, 1069)).toBe(60);
    expect((await reader.lastBlock(5000))?.number).toBe(1009);
    expect(await reader.lowest()).toBe(1000);
    expect(await writer.rewind(0, 1009)).toBe(10);
    expect(await reader.lastBlock(5000)).toBeUndefined();
    expect(await reader.lowest()).toBeUndefined();
  });

  it('writes a history page once if a read fails after its traces were written', async () => {
    const identity = newChain();
    const chain = new GrowingChain(new Random(61), 1000);
    const { reader, writer } = throughProxy(identity);
    await writer.write(newBlocks(chain, 8).map(indexed));
    const range = { fromBlock: 1000, toBlock: 1007 };
    const asked = { direction: 'either', order: 'asc', filter: {}, addresses: [ADDRESS], ...range } as const;
    const expected = referenceHistory(chain.traces, asked, range).slice(0, 2);
    expect(expected).toHaveLength(2);
    const json = new JsonWriter();
    const { cuts } = proxy;
    // The last statement of a page reads the block of its cursor.
    proxy.closeNext('number IN {numbers', 'before');
    await reader.addressTraces({ query: { ...asked, limit: 2 } }, { maxBytes: MAX_BYTES, json });
    expect(proxy.cuts).toBe(cuts + 1);
    expect(JSON.parse(json.written().toString())).toEqual(expected);
  });

  it('answers from another host if one lags, has lost rows, or is unreachable', async () => {
    const identity = newChain();
    const chain = new GrowingChain(new Random(59), 1000);
    const other = second as ClickHouseServer; // started in beforeAll
    const blocks = newBlocks(chain, 60).map(indexed);
    await open(identity).writer.write(blocks);
    await open(identity, other.url()).writer.write(blocks.slice(0, 40));
    const hosts = (...ports: number[]) =>
      server()
        .url()
        .replace(/127\.0\.0\.1:\d+/, ports.map((port) => `127.0.0.1:${port}`).join(','));
    const both = open(identity, hosts(other.port, 1, server().port)).reader;
    await compareSome(asStore(both), chain, 10);
    const key = await other.query('SELECT any(chain) FROM trace_blocks');
    for (const table of ['trace_parties', 'trace_chunks']) {
      await other.query(
        `ALTER TABLE ${table} DELETE WHERE chain = ${key} AND number % 3 = 0 SETTINGS mutations_sync = 2`,
      );
      await compareSome(asStore(both), chain, 10);
    }
    const lagging = open(identity, other.url()).reader;
    await expect(
      lagging.filter(
        { ...filterOf(1000, 1030), fromAddresses: [...shape.addresses] },
        { maxBytes: MAX_BYTES },
      ),
    ).rejects.toThrow(TraceStoreUnavailable);
  });

  it('uses the stored state of a complete segment, and derives it again after a repair', async () => {
    const identity = newChain();
    const chain = new GrowingChain(new Random(60), 1020);
    const { writer } = open(identity);
    for (let i = 0; i < 9; i++) await writer.write(newBlocks(chain, 128).map(indexed));
    const count = () =>
      query(
        `SELECT count() FROM trace_segments WHERE number = 1024 AND parties > 0 AND chain IN (SELECT chain FROM trace_blocks GROUP BY chain HAVING min(number) = 1020)`,
      );
    expect(await count()).toBe('1');
    await compareHistory(open(identity).reader, chain);
    await writer.write([indexed(chain.blocks.get(1500) as SyntheticBlock)], { again: true });
    expect(await count()).toBe('2');
    await compareHistory(open(identity).reader, chain);
  });

  it('names missing tables and invalid URLs, and reports an unreachable host as unavailable', async () => {
    const other = second as ClickHouseServer; // started in beforeAll
    const lacking = openSharedTraces(other.url());
    await lacking.check();
    await other.query('RENAME TABLE trace_segments TO away');
    await expect(lacking.check()).rejects.toThrow(BadTraceStore);
    await expect(lacking.check()).rejects.toThrow(/trace_segments.*floodgate store migrate/);
    await other.query('RENAME TABLE away TO trace_segments');
    const away = openSharedTraces(server().url({ port: 1 }));
    await expect(away.check()).rejects.toThrow(TraceStoreUnavailable);
    await expect(
      open(newChain(), server().url({ password: 'a wrong secret' })).reader.lastBlock(5),
    ).rejects.toThrow(/^(?!.*secret)/);
    expect(() => openSharedTraces('clickhouse://a:secret@/b')).toThrow(/^(?!.*secret)/);
    expect(() => openSharedTraces('clickhouse://a@b/c?d=e')).toThrow('unknown parameter "d"');
    for (const one of [lacking, away]) await one.close();
  });
});
