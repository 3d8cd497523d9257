/**
 * The history of an address over a long chain of 200 traces per block, with hot addresses and a long tail. Figures
 * are ratios of two measurements of this run: responses against a bare node:http server, as in traces.ts, and work in
 * this process in processor time.
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
import { startFloodgate, startScript } from './support/child.ts';
import { load } from './support/load.ts';
import { addressAt, type MadeBlock, MainnetLike } from './support/mainnetLike.ts';
import { CONNECTIONS, inTurns, progress, row } from './support/turns.ts';

const BLOCKS = Number(process.env['BENCH_BLOCKS'] ?? 50_000);
const TURN_MS = Number(process.env['BENCH_TURN_MS'] ?? 3000);
/** With BENCH_FOLDER: ingest stops after this time, and continues in the next run. */
const MAX_INGEST_SECONDS = Number(process.env['BENCH_INGEST_SECONDS'] ?? Number.POSITIVE_INFINITY);
/** Exit code of a run that must be repeated to continue. */
const TRY_AGAIN = 75;
const TRACES_PER_BLOCK = 200;
const BLOCKS_PER_COMMIT = 64;
/** Number of blocks generated from one seed; ingest resumes at such a boundary. */
const BLOCKS_PER_STRETCH = 1024;
const TURNS = 3;
/** Number of times the directory is built; the minimum time counts. */
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 3);
/** Ranks of addresses by how busy they are in the generated chain. */
const HOT_RANKS = { first: 0, count: 10 };
const TAIL_RANKS = { first: 20_000, count: 2_000 };
const POLL_MS = 500;
const PAGE_BYTES = 8192;

/** Folder that keeps the chain for the next run, which then ingests nothing. Default: a temporary folder. */
const KEPT_FOLDER = process.env['BENCH_FOLDER'];

const folder = KEPT_FOLDER ?? mkdtempSync(join(tmpdir(), 'floodgate-bench-'));
const index = join(folder, 'traces');
/** File with the ingest time so far. */
const ingestFile = join(folder, 'ingest.json');

interface IngestTime {
  /** Number of ingested blocks. */
  readonly blocks: number;
  /** Total time, including the directory and the attributes. */
  readonly ingestMs: number;
  /** Time for the attributes alone. */
  readonly attributesMs: number;
}

/** Returns the processor time of this process, which excludes other work of the machine. */
function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

const NOTHING: IngestTime = { blocks: 0, ingestMs: 0, attributesMs: 0 };
const ingestSoFar = (): IngestTime =>
  existsSync(ingestFile) ? (JSON.parse(readFileSync(ingestFile, 'utf8')) as IngestTime) : NOTHING; // written by an earlier run

/** Ingests the missing blocks until the time is up. */
async function ingest(): Promise<IngestTime> {
  const endMs = performance.now() + 1000 * MAX_INGEST_SECONDS;
  let time = ingestSoFar();
  const store = openTraceStore(index);
  // Blocks that an aborted run added are not included in the times, so they are removed.
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

/** Yields the blocks of one stretch. */
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

/** Writes the files that `blockNode.js` serves. */
function keepHead({ header, bytes }: { readonly header: object; readonly bytes: string }): void {
  const offsets = [0, Buffer.byteLength(bytes)];
  const directory = { first: BLOCKS, last: BLOCKS, genesis: GENESIS.header, headers: [header], offsets };
  writeFileSync(join(folder, 'chain.json'), JSON.stringify(directory));
  writeFileSync(join(folder, 'traces.json'), bytes);
}

/**
 * Rebuilds the directory in the same way as ingest. Compares the processor time of directory and attributes with the
 * rest of ingest, and their bytes with all others.
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

/** Rebuilds the directory, and returns the processor time. */
async function makeDirectory(): Promise<number> {
  forgetDirectory();
  const store = openTraceStore(index);
  // Opening also builds the lists of the newest blocks, as every start does; that is not counted.
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
    // Like an index of the previous format: the attributes remain.
    meta.putSync(Buffer.from('history-segments'), Buffer.alloc(1));
    meta.removeSync(SEGMENTS);
  });

/**
 * Returns whether every segment except the last two, whose lists may not be on disk yet, is in a run, eight of them
 * in one, and no block lacks its attributes.
 */
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
  return store.addressTraces(query, Number.POSITIVE_INFINITY, json) as HistoryPage; // LMDB returns synchronously
}

/**
 * Returns how often an address is a party, which is the length of its posting lists. One summary counts up to a
 * bound.
 */
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
      next = page(store, { ...query, cursor: next }).next;
  }
  const perSecond = (1000 * looked) / (cpuMs() - started);
  row({
    name: 'with minValue, positions a second',
    must: '2,000,000',
    value: perSecond,
    note: `${looked} in all`,
  });
}

/** Measures the time of the first pages of histories, and of the last full ones. */
function measureLastPages(store: TraceStore): void {
  const ends: [HistoryQuery, HistoryQuery][] = [];
  for (let rank = HOT_RANKS.first; rank < TAIL_RANKS.first; rank = 2 * rank + 7) {
    const query = queryOf(rank);
    let last = query;
    for (let next = page(store, query).next; next !== undefined; ) {
      const asked = { ...query, cursor: next };
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
    // Requests each page once: its traces are read from disk the first time, and cached afterwards.
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
    if (ours === undefined || theirs === undefined) throw new Error('no measurement');
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
    console.log(`${time.blocks} of ${BLOCKS} blocks are ingested: run again with BENCH_FOLDER=${folder}`);
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
