import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DEFAULT_LIMITS, METHODS, methodOf } from '../../src/ethereum/gateway/index.ts';
import { Indexer, SharedFiller } from '../../src/ethereum/ingest/index.ts';
import { RpcError } from '../../src/ethereum/jsonrpc/index.ts';
import {
  CombinedTraceStore,
  migrateSharedTraces,
  openSharedTraces,
} from '../../src/ethereum/store/shared/index.ts';
import {
  IndexUnavailableError,
  immediate,
  indexBlock,
  type Trace,
  type TraceFilter,
} from '../../src/ethereum/traces/index.ts';
import { shape } from '../contract/growingChain.ts';
import { lmdbTraces } from '../contract/lmdbTraces.ts';
import { ClickHouseServer, hasClickHouse, WITHOUT_CLICKHOUSE } from '../support/clickHouse.ts';
import { CuttingProxy } from '../support/cuttingProxy.ts';
import { hasTooMany, referenceFilter } from '../support/plainFilter.ts';
import { Random } from '../support/random.ts';
import { sizeInSearch } from '../support/search.ts';
import { newChain } from '../support/sharedIndex.ts';
import { stringifyTraces } from '../support/textOfTraces.ts';
import { until } from '../support/until.ts';
import { ChangingNode, turns } from './support/changingNode.ts';

/** Repeat a search with the printed seed: `FLOODGATE_TEST_SEED=… npx vitest run test/traces/sharedSearch`. */
const SEED = Number(process.env['FLOODGATE_TEST_SEED'] ?? 91);
const REQUESTS = sizeInSearch(2_000, { ordinary: 60 });
const ASKING_AT_ONCE = 6;
/** Two segments, so that ranges cross the border. */
const [FIRST, SHARED_BLOCKS] = [960, 90];
const KEPT_BLOCKS = 4;
const TOO_MANY = '-32005';
const NOTHING = () => undefined;

describe.skipIf(!hasClickHouse)(
  `trace_filter over a local and a shared index, seed ${SEED}${WITHOUT_CLICKHOUSE}`,
  () => {
    let clickHouse: ClickHouseServer;
    let proxy: CuttingProxy;
    const closing: (() => unknown)[] = [];
    /** Changes of the chain and of the shared index, for the message of a failure. */
    const events: string[] = [];
    beforeAll(async () => {
      clickHouse = await ClickHouseServer.start();
      proxy = await CuttingProxy.start(clickHouse.port);
      await migrateSharedTraces(clickHouse.url());
    });
    afterAll(async () => {
      for (const close of closing.reverse()) await close();
      await proxy?.stop();
      await clickHouse?.remove();
    });

    /** Starts a gateway that also writes the shared index, without its HTTP server. */
    async function start(random: Random) {
      const identity = newChain();
      const node = new ChangingNode(random, identity, FIRST);
      node.replace(0, SHARED_BLOCKS + 10);
      node.finalized = FIRST + SHARED_BLOCKS;
      const traces = openSharedTraces(clickHouse.url({ port: proxy.port }));
      const direct = openSharedTraces(clickHouse.url());
      const writer = direct.writer(identity);
      const folder = await lmdbTraces();
      const local = await folder.open();
      const store = new CombinedTraceStore(
        { keepBlocks: KEPT_BLOCKS },
        { local, shared: (chain) => traces.reader(chain) },
      );
      await store.bindChain(identity);
      const blocks = (fromBlock: number, toBlock: number) =>
        (node.blocksOf(node.versions.length - 1, fromBlock, toBlock) ?? []).map((block) =>
          indexBlock(block.header, block.traces),
        );
      await writer.write(blocks(FIRST, node.finalized));
      const stop = new AbortController();
      const filler = new SharedFiller(
        { fromBlock: FIRST, pollIntervalMs: 5, othersMs: 0 },
        {
          shared: () =>
            store.shared && { ...reads(store.shared), write: (list) => traces.writer(identity).write(list) },
          source: node,
          signal: stop.signal,
          finalNumber: () => immediate(local.finalizedNumber()),
          written: NOTHING,
          failed: NOTHING,
          recovered: NOTHING,
          nowMs: () => performance.now(),
        },
      );
      const observer = {
        indexed: NOTHING,
        reorganised: NOTHING,
        failed: NOTHING,
        recovered: NOTHING,
        filled: NOTHING,
        evicted: NOTHING,
        unavailable: NOTHING,
        available: NOTHING,
        gapClosed: NOTHING,
        repaired: NOTHING,
      };
      const indexer = new Indexer(
        {
          fromBlock: node.finalized - 10,
          pollIntervalMs: 5,
          sharedHead: async (upTo) => (await store.shared?.lastBlock(upTo))?.number,
        },
        { store, local, source: node, observer, followed: () => void store.trim().catch(NOTHING) },
      );
      indexer.start();
      const filling = filler.run();
      closing.push(async () => {
        stop.abort();
        await filling;
        await indexer.stop();
        await store.close();
        for (const opened of [traces, direct]) await opened.close();
        await folder.remove();
      });
      const filled = {
        get lastHeads() {
          return indexer.lastHeads;
        },
        freshHeads: () => indexer.freshHeads(),
        ensure: (from: number, to: number) => indexer.ensure(from, to),
        charge: NOTHING,
      };
      const row = METHODS.find(({ name }) => name === 'trace_filter') as (typeof METHODS)[number];
      const services = { store, indexer: filled, finder: node, maxAnswerBytes: 2 ** 26 };
      const method = methodOf(row, { index: services } as never); // its handler uses no other service
      const ask = async (asked: object): Promise<Uint8Array> => {
        const context = { mayStream: false, limits: DEFAULT_LIMITS, room: {} as never };
        return (await method.handle([asked], context)) as Uint8Array; // not streamed
      };
      await until('the index to be at the head', () => immediate(local.head())?.number === node.head);
      return { node, local, writer, blocks, ask };
    }
    type Started = Awaited<ReturnType<typeof start>>;

    it('returns the matches of the chain at the request or later, while blocks are replaced and rows are lost', async () => {
      const random = new Random(SEED);
      const started = await start(random);
      const { node, local } = started;
      let exact = 0;
      const wrong: string[] = [];
      const isEnough = () => exact >= REQUESTS || wrong.length > 0;
      const asking = Array.from({ length: ASKING_AT_ONCE }, async () => {
        while (!isEnough()) {
          await turns(random.below(20));
          const filter = randomFilter(random, node);
          const head = immediate(local.head());
          const first = node.versions.findLastIndex(
            (blocks) => blocks[(head?.number ?? 0) - FIRST]?.header.hash === head?.hash,
          );
          const answer = await answerOf(started.ask(askedBy(filter)));
          if (answer.error !== undefined && answer.error !== TOO_MANY) continue;
          const expected = expectedAnswers(node, first, filter);
          if (expected.includes(answer.error ?? answer.text)) exact++;
          else
            wrong.push(
              `${JSON.stringify(filter)}: ${answer.error ?? placesIn(answer.text)}, not ${expected.map(placesIn)}; after ${events.slice(-4)}`,
            );
        }
      });
      while (!isEnough()) {
        await change(random, started);
        await turns(random.below(60));
      }
      await Promise.all(asking);
      expect(wrong, `seed ${SEED}`).toEqual([]);
    });

    /** Changes the chain, or damages the shared index and repairs it. */
    async function change(random: Random, { node, local, writer, blocks }: Started): Promise<void> {
      const { finalized, head } = node;
      const step = random.below(20);
      if (step < 9) node.replace(0, random.between(1, 5));
      else if (step < 15) {
        const depth = random.between(1, Math.min(12, head - finalized));
        node.replace(depth, Math.max(1, depth + random.between(-3, 4)));
      } else if (step < 17) node.finalized = Math.max(finalized, head - random.between(4, 14));
      else if (step < 18) {
        proxy.isClosed = true;
        await turns(random.below(400));
        proxy.isClosed = false;
      } else {
        const number = random.between(FIRST, finalized);
        const damage = random.pick([
          `trace_blocks DELETE WHERE number >= ${number}`,
          `trace_blocks DELETE WHERE number = ${number}`,
          `trace_parties DELETE WHERE number = ${number} AND trace_index % 2 = 0`,
          `trace_chunks DELETE WHERE number BETWEEN ${number} AND ${number + 10}`,
          `trace_chunks UPDATE bytes = concat(bytes, 'x') WHERE number = ${number}`,
        ]);
        events.push(damage);
        await clickHouse.query(`ALTER TABLE ${damage} SETTINGS mutations_sync = 2`);
        await turns(random.below(400));
        events.push('repair');
        await writer.write(blocks(FIRST, finalized), {
          again: random.chance(0.5) || !damage.startsWith('trace_blocks'),
        });
      }
      events.push('end');
      if (random.chance(0.5))
        await until('the index to follow', () => immediate(local.head())?.number === node.head);
    }
  },
);

const reads = (reader: NonNullable<CombinedTraceStore['shared']>) => ({
  lastBlock: (upTo: number) => reader.lastBlock(upTo),
  firstMissing: (from: number, to: number) => reader.firstMissing(from, to),
  unavailable: (from: number, to: number, max: number) => reader.unavailable(from, to, max),
});

/** Returns a filter whose range is often at the border of the stores or of the segments. */
function randomFilter(random: Random, node: ChangingNode): TraceFilter {
  const { head, finalized, versions } = node;
  const start = random.pick([
    finalized - random.below(20),
    1024 - random.below(20),
    head - random.below(12),
    FIRST,
  ]);
  const fromBlock = Math.max(FIRST, Math.min(start + random.below(10), head));
  const toBlock = Math.min(head, fromBlock + random.below(random.pick([4, 16, 200])));
  const addresses = () =>
    random.chance(0.35)
      ? []
      : Array.from({ length: random.between(1, 8) }, () => random.pick([...shape.addresses]));
  const blockHash = versions[random.below(versions.length)]?.[fromBlock - FIRST]?.header.hash;
  return {
    fromBlock,
    toBlock,
    fromAddresses: addresses(),
    toAddresses: addresses(),
    mode: random.pick(['intersection', 'union'] as const),
    after: random.chance(0.5) ? 0 : random.below(random.pick([10, 300])),
    count: random.chance(0.5) ? 200 : random.below(201),
    wantsAll: random.chance(0.2),
    ...(random.chance(0.1) && blockHash !== undefined && { blockHash, toBlock: fromBlock }),
  };
}

const askedBy = ({
  fromBlock,
  toBlock,
  blockHash,
  fromAddresses,
  toAddresses,
  mode,
  after,
  count,
  wantsAll,
}: TraceFilter) => ({
  ...(blockHash === undefined ? { fromBlock, toBlock } : { blockHash }),
  fromAddress: fromAddresses,
  toAddress: toAddresses,
  mode,
  after,
  ...(!wantsAll && { count }),
});

/** Returns the results of the filter in each version of the chain from `first` on that has all blocks of its range. */
function expectedAnswers(node: ChangingNode, first: number, filter: TraceFilter): string[] {
  const { fromBlock, toBlock, blockHash } = filter;
  const wanted = { ...filter, ...(filter.wantsAll && { count: 200 }) };
  const answers = new Set<string>();
  for (let version = Math.max(0, first); version < node.versions.length; version++) {
    const blocks = node.blocksOf(version, fromBlock, toBlock);
    if (blocks === undefined || (blockHash !== undefined && blocks[0]?.header.hash !== blockHash)) continue;
    const traces = blocks.flatMap((block) => block.traces);
    answers.add(hasTooMany(traces, wanted) ? TOO_MANY : stringifyTraces(referenceFilter(traces, wanted)));
  }
  return [...answers];
}

/** Resolves with the text of a result, or with the code of an error. */
async function answerOf(result: Promise<Uint8Array>): Promise<{ text: string; error?: string }> {
  try {
    return { text: Buffer.from(await result).toString() };
  } catch (error) {
    if (error instanceof RpcError) return { text: '', error: String(error.code) };
    if (error instanceof IndexUnavailableError) return { text: '', error: error.name };
    throw error;
  }
}

/** Returns the block, transaction and path of each trace of a result. */
const placesIn = (text: string): string =>
  (text.startsWith('[') ? (JSON.parse(text) as Trace[]) : [])
    .map((trace) => `${trace.blockNumber} ${trace.transactionPosition} ${trace.traceAddress}`)
    .join(', ');
