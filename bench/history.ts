/**
 * The history of an address over all of a long chain of 200 traces a block, with hot addresses and a long tail. Figures are ratios of two
 * measurements of this run: answers against a bare node:http server, as in traces.ts; work in this process in processor time.
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { open } from 'lmdb';
import { openTraceStore } from '../src/ethereum/store/lmdb/traces/index.ts';
import { checkBlock, parseHeader, parseTraceBlock } from '../src/ethereum/traces/convert/index.ts';
import {
  attributesOf,
  type Hash,
  type HistoryPage,
  type HistoryQuery,
  type HistorySummary,
  indexBlock,
  JsonWriter,
  type TraceStore,
} from '../src/ethereum/traces/index.ts';
import { freePort } from '../test/support/freePort.ts';
import { startFloodgate, startScript } from './child.ts';
import { load } from './load.ts';
import { addressAt, type MadeBlock, MainnetLike } from './mainnetLike.ts';
import { CONNECTIONS, inTurns, progress, row } from './turns.ts';

const BLOCKS = Number(process.env['BENCH_BLOCKS'] ?? 50_000);
const TURN_MS = Number(process.env['BENCH_TURN_MS'] ?? 3000);
/** With BENCH_FOLDER: ingest is left off after so long, and goes on with the next run. */
const MAX_INGEST_SECONDS = Number(process.env['BENCH_INGEST_SECONDS'] ?? Number.POSITIVE_INFINITY);
/** The exit code of a run that is to be run again. */
const TRY_AGAIN = 75;
const TRACES_PER_BLOCK = 200;
const BLOCKS_PER_COMMIT = 64;
/** Blocks that are made from one seed; ingest goes on behind the last that are whole. */
const BLOCKS_PER_STRETCH = 1024;
const TURNS = 3;
/** How often the directory is made: the least time counts. */
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 3);
/** Addresses by how busy they are, as the made chain has them. */
const HOT_RANKS = { first: 0, count: 10 };
const TAIL_RANKS = { first: 20_000, count: 2_000 };
const POLL_MS = 500;
const PAGE_BYTES = 8192;

/** Where the chain is kept for the next run, which then ingests nothing; left out: in a folder that is removed. */
const KEPT_FOLDER = process.env['BENCH_FOLDER'];

const folder = KEPT_FOLDER ?? mkdtempSync(join(tmpdir(), 'floodgate-bench-'));
const index = join(folder, 'traces');
/** What ingest took so far. */
const ingestFile = join(folder, 'ingest.json');

interface IngestTime {
  /** How many blocks there are. */
  readonly blocks: number;
  /** Of all, the directory and the attributes included. */
  readonly ingestMs: number;
  /** What the attributes alone take. */
  readonly attributesMs: number;
}

/** Processor time of this process: what else the machine does is not in it. */
function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

const NOTHING: IngestTime = { blocks: 0, ingestMs: 0, attributesMs: 0 };
const ingestSoFar = (): IngestTime =>
  existsSync(ingestFile) ? (JSON.parse(readFileSync(ingestFile, 'utf8')) as IngestTime) : NOTHING; // written by a run before

/** Ingests what is not there yet, as far as there is time. */
async function ingest(): Promise<IngestTime> {
  const endMs = performance.now() + 1000 * MAX_INGEST_SECONDS;
  let time = ingestSoFar();
  const store = openTraceStore(index);
  // What a run that was broken off has added is not in its times.
  if (((await store.head())?.number ?? 0) > time.blocks)
    await store.apply({ undoFrom: time.blocks + 1, blocks: [] });
  while (time.blocks < BLOCKS && performance.now() < endMs) {
    time = await ingestStretch(store, time);
    writeFileSync(ingestFile, JSON.stringify(time));
  }
  const started = cpuMs();
  await store.close();
  return { ...time, ingestMs: time.ingestMs + cpuMs() - started };
}

/** The blocks of a stretch, as a node has them. */
function* stretchFrom(first: number, parent: Hash): Generator<MadeBlock, undefined> {
  const chain = new MainnetLike(first, TRACES_PER_BLOCK, parent);
  const end = Math.min(BLOCKS, first + BLOCKS_PER_STRETCH - 1);
  for (let number = first; number <= end; number++) yield chain.block(number);
  return undefined;
}

const GENESIS = new MainnetLike(0, TRACES_PER_BLOCK).block(0);

async function ingestStretch(store: TraceStore, before: IngestTime): Promise<IngestTime> {
  let { blocks: last, ingestMs, attributesMs } = before;
  let written: Promise<void> = Promise.resolve();
  const parent = await store.lastBlock(last);
  const chain = stretchFrom(last + 1, parent?.hash ?? GENESIS.hash);
  for (let made = take(chain, BLOCKS_PER_COMMIT); made.length > 0; made = take(chain, BLOCKS_PER_COMMIT)) {
    const answers = made.map(({ header, traces }) => ({ header, bytes: JSON.stringify(traces) }));
    const started = cpuMs();
    const blocks = answers.map(({ header, bytes }) => {
      const parsed = parseHeader(header);
      const traces = parseTraceBlock(JSON.parse(bytes));
      checkBlock(parsed, traces);
      return indexBlock(parsed, traces);
    });
    await written;
    written = store.apply({ blocks });
    await nextTurn();
    ingestMs += cpuMs() - started;
    const startedAgain = cpuMs();
    for (const { block, chunks } of blocks) attributesOf(chunks, block.traceCount);
    attributesMs += cpuMs() - startedAgain;
    last += made.length;
    const newest = answers.at(-1);
    if (last === BLOCKS && newest !== undefined) keepHead(newest);
    progress(last, BLOCKS);
  }
  const started = cpuMs();
  await written;
  return { blocks: last, ingestMs: ingestMs + cpuMs() - started, attributesMs };
}

function take(chain: Iterator<MadeBlock>, count: number): MadeBlock[] {
  const blocks: MadeBlock[] = [];
  for (let next = chain.next(); !next.done; next = chain.next()) if (blocks.push(next.value) === count) break;
  return blocks;
}

/** What `blockNode.js` answers with. */
function keepHead({ header, bytes }: { readonly header: object; readonly bytes: string }): void {
  const offsets = [0, Buffer.byteLength(bytes)];
  const directory = { first: BLOCKS, last: BLOCKS, genesis: GENESIS.header, headers: [header], offsets };
  writeFileSync(join(folder, 'chain.json'), JSON.stringify(directory));
  writeFileSync(join(folder, 'traces.json'), bytes);
}

/**
 * The directory, made anew as ingest makes it, and the attributes, worked out again: their processor time against all else that
 * ingest did; and the bytes of both.
 */
async function measureDirectory({ ingestMs, attributesMs }: IngestTime): Promise<void> {
  let directoryMs = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS; round++) directoryMs = Math.min(directoryMs, await makeDirectory());
  const ownMs = directoryMs + attributesMs;
  row({
    name: 'directory and attributes, time against ingest',
    must: 'at most 0.1',
    value: ownMs / (ingestMs - ownMs),
    note: `${(directoryMs / 1000).toFixed(1)} and ${(attributesMs / 1000).toFixed(1)} of ${(ingestMs / 1000).toFixed(0)} s`,
  });
  const { own, all } = pagesOfDirectory();
  const note = `${((own * PAGE_BYTES) / 1e6).toFixed(1)} of ${((all * PAGE_BYTES) / 1e6).toFixed(0)} MB`;
  row({
    name: 'directory and attributes, bytes against all else',
    must: 'at most 0.05',
    value: own / (all - own),
    note,
  });
}

/** Makes the directory anew; gives the processor time that it takes. */
async function makeDirectory(): Promise<number> {
  forgetDirectory();
  const store = openTraceStore(index);
  // Opening works out the lists of the newest blocks, which every start does.
  const started = cpuMs();
  while (!isDirectoryMade()) await sleep(POLL_MS);
  await store.close();
  return cpuMs() - started;
}

const RUNS = Array.from({ length: 8 }, (_, level) => `directory-${level}`);
const NAMES = ['attributes', ...RUNS];
const SEGMENTS = Buffer.from('history-segments-3');

const withFile = <T>(
  readOnly: boolean,
  use: (database: (name: string) => ReturnType<typeof open<Buffer, Buffer>>, names: string[]) => T,
): T => {
  const options = { keyEncoding: 'binary', encoding: 'binary' } as const;
  const root = open<Buffer, Buffer>({
    path: index,
    maxDbs: 2000,
    pageSize: PAGE_BYTES,
    readOnly,
    ...options,
  });
  const names = [...root.getKeys()].map((name) => Buffer.from(name).toString().replaceAll('\0', ''));
  try {
    return use((name) => root.openDB<Buffer, Buffer>({ name, ...options }) as never, names);
  } finally {
    void root.close();
  }
};

const forgetDirectory = (): void =>
  withFile(false, (database) => {
    for (const name of RUNS) database(name).clearSync();
    const meta = database('meta');
    // As an index of the format before has it: its attributes stay.
    meta.putSync(Buffer.from('history-segments'), Buffer.alloc(1));
    meta.removeSync(SEGMENTS);
  });

/** Every segment but the last two, whose lists may not be on disk yet, is in a run, eight of them in one, and no block lacks its attributes. */
const isDirectoryMade = (): boolean =>
  withFile(true, (database) => {
    const meta = database('meta');
    const states = [...(meta.getBinary(SEGMENTS) ?? [])].slice(0, -2).map((state) => state >>> 2);
    const isLacking = meta.getBinary(Buffer.from('history-attributes-from')) !== undefined;
    const inEights = states.length - (states.length % 8);
    return !isLacking && states.length > 0 && states.every((level, i) => level >= (i < inEights ? 2 : 1));
  });

const pagesOfDirectory = (): { own: number; all: number } =>
  withFile(true, (database, names) => {
    const pagesOf = (name: string): number => {
      const stats = database(name).getStats() as Record<string, number>;
      const kinds = ['treeBranchPageCount', 'treeLeafPageCount', 'overflowPages'];
      return kinds.reduce((sum, kind) => sum + (stats[kind] ?? 0), 0);
    };
    const sum = (of: readonly string[]): number => of.reduce((pages, name) => pages + pagesOf(name), 0);
    const own = sum(NAMES);
    const all = own + sum(names.filter((name) => !NAMES.includes(name)));
    return { own, all };
  });

const queryOf = (rank: number, more: Partial<HistoryQuery> = {}): HistoryQuery => ({
  addresses: [addressAt(rank)],
  direction: 'either',
  toBlock: BLOCKS,
  order: 'desc',
  filter: {},
  limit: 100,
  ...more,
});

const json = new JsonWriter();
function page(store: TraceStore, query: HistoryQuery): HistoryPage {
  json.reset();
  return store.addressTraces(query, Number.POSITIVE_INFINITY, json) as HistoryPage; // lmdb answers at once
}

/** How often an address is on a side: what its posting lists hold. One summary counts as far as it may. */
function sidesOf(store: TraceStore, address: ReturnType<typeof addressAt>): number {
  let sides = 0;
  for (let toBlock = BLOCKS; toBlock >= 0; ) {
    const { counts } = store.addressSummary({ address, fromBlock: 0, toBlock }) as HistorySummary;
    for (const count of [...counts.by.from, ...counts.by.to]) sides += count;
    toBlock = (counts.range?.fromBlock ?? 0) - 1;
  }
  return sides;
}

function measureLooks(store: TraceStore): void {
  let looked = 0;
  for (let rank = HOT_RANKS.first; rank < HOT_RANKS.first + HOT_RANKS.count; rank++)
    looked += sidesOf(store, addressAt(rank));
  const started = cpuMs();
  for (let rank = HOT_RANKS.first; rank < HOT_RANKS.first + HOT_RANKS.count; rank++) {
    const query = queryOf(rank, { filter: { minValue: 2n ** 200n } });
    for (let next = page(store, query).next; next !== undefined; )
      next = page(store, { ...query, behind: next }).next;
  }
  const perSecond = (1000 * looked) / (cpuMs() - started);
  row({
    name: 'with minValue, positions a second',
    must: '2,000,000',
    value: perSecond,
    note: `${looked} in all`,
  });
}

/** The time of the first pages of histories and of the last full ones. */
function measureLastPages(store: TraceStore): void {
  const ends: [HistoryQuery, HistoryQuery][] = [];
  for (let rank = HOT_RANKS.first; rank < TAIL_RANKS.first; rank = 2 * rank + 7) {
    const query = queryOf(rank);
    let last = query;
    for (let next = page(store, query).next; next !== undefined; ) {
      const asked = { ...query, behind: next };
      next = page(store, asked).next;
      if (next !== undefined) last = asked;
    }
    ends.push([query, last]);
  }
  const timeOf = (which: 0 | 1): number => {
    const started = cpuMs();
    for (let i = 0; i < 300; i++) for (const end of ends) page(store, end[which]);
    return cpuMs() - started;
  };
  timeOf(0);
  timeOf(1);
  row({
    name: 'time of the last page against the first',
    must: 'at most 1.5',
    value: timeOf(1) / timeOf(0),
    note: '',
  });
}

async function measureAnswers(store: TraceStore): Promise<void> {
  const data = folder;
  const work = [
    { name: 'a page of a tail address', must: '0.3', ranks: TAIL_RANKS },
    { name: 'a page of a hot address', must: '0.2', ranks: HOT_RANKS },
  ].map(({ name, must, ranks }) => {
    const asked = Array.from({ length: ranks.count }, (_, id) => {
      const address = addressAt(ranks.first + id);
      page(store, queryOf(ranks.first + id));
      const params = [{ address }];
      const body = { jsonrpc: '2.0', id, method: 'floodgate_addressTraces', params };
      return { body: Buffer.from(JSON.stringify(body)), bytes: json.textBytes + 150 };
    });
    return { name, must, asked };
  });
  await store.close();
  const node = await startScript('blockNode.js', folder);
  const server = await startFloodgate(await freePort(), ['--data-dir', data, '--upstream', node.url]);
  for (const { name, must, asked } of work) {
    const sizes = join(folder, 'sizes.json');
    writeFileSync(sizes, JSON.stringify(asked.map(({ bytes }) => bytes)));
    const bare = await startScript('bareServer.js', sizes);
    const bodies = asked.map(({ body }) => body);
    const url = `${server.url}/v1/mainnet`;
    // Each page once: the first time its traces are read from disk, from then on their text is at hand.
    const first = await load({ url, bodies, connections: CONNECTIONS });
    const [ours, theirs] = await inTurns(
      [
        { url, bodies },
        { url: bare.url, bodies },
      ],
      TURN_MS,
      TURNS,
    );
    await bare.stop();
    if (ours === undefined || theirs === undefined) throw new Error('nothing was measured');
    const note = `${ours.requestsPerSecond.toFixed(0)}/s, ${(ours.bytesPerAnswer / 1000).toFixed(0)} kB`;
    row({ name, must, value: ours.requestsPerSecond / theirs.requestsPerSecond, note });
    const cold = first.requestsPerSecond / theirs.requestsPerSecond;
    row({ name: `${name}, the first time`, must: '', value: cold, note: `${first.requests} pages` });
  }
  await server.stop();
  await node.stop();
}

try {
  mkdirSync(index, { recursive: true });
  const time = await ingest();
  if (time.blocks < BLOCKS) {
    console.log(`${time.blocks} of ${BLOCKS} blocks are there: run it again with BENCH_FOLDER=${folder}`);
    process.exitCode = TRY_AGAIN;
  } else {
    await measureDirectory(time);
    const store = openTraceStore(index);
    measureLooks(store);
    measureLastPages(store);
    await measureAnswers(store);
  }
} finally {
  if (KEPT_FOLDER === undefined) rmSync(folder, { recursive: true, force: true });
}
