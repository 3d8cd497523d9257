/**
 * trace_filter on a chain like mainnet: 800 blocks of 1,000 traces. Every figure is a ratio of two measurements of
 * this run: Floodgate against a bare node:http server that sends the same number of bytes, each in a separate
 * process, in alternation.
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { openTraceStore } from '../src/ethereum/store/lmdb/traces/index.ts';
import { checkBlock, parseHeader, parseTraceBlock } from '../src/ethereum/traces/convert/index.ts';
import {
  type Address,
  type IndexedBlock,
  indexBlock,
  type TraceFilter,
  type TraceStore,
} from '../src/ethereum/traces/index.ts';
import { freePort } from '../test/support/freePort.ts';
import { Random } from '../test/support/random.ts';
import { type ServerProcess, startFloodgate, startScript } from './support/child.ts';
import { type LoadResult, load } from './support/load.ts';
import { type MadeChain, makeChain, openMadeChain } from './support/madeChain.ts';
import { addressAt } from './support/mainnetLike.ts';
import { CONNECTIONS, inTurns, progress, row } from './support/turns.ts';

const TRACES_PER_BLOCK = 1000;
const BLOCKS = Number(process.env['BENCH_BLOCKS'] ?? 800);
/** Blocks before the measured ones, to warm up a process without reading the measured ones. */
const WARM_BLOCKS = 64;
const WARM_FIRST = 1024;
const FIRST_BLOCK = WARM_FIRST + WARM_BLOCKS;
const LAST_BLOCK = FIRST_BLOCK + BLOCKS - 1;
const BLOCKS_PER_COMMIT = 64;
const TURNS = 3;
const TURN_MS = Number(process.env['BENCH_TURN_MS'] ?? 3000);
const DIFFERENT_REQUESTS = 10_000;
/** Few requests, so that most of the 100,000 chunks of the chain are read for the first time. */
const COLD_REQUESTS = 250;
const MEGABYTE = 1e6;

const folder = process.env['BENCH_DATA'] ?? mkdtempSync(join(tmpdir(), 'floodgate-bench-'));
mkdirSync(folder, { recursive: true });
/** Index of this process, for timing and for the choice of requests. */
const ownIndex = join(folder, 'own');
/** Index of the server. */
const serverData = join(folder, 'server');

interface Workload {
  readonly name: string;
  readonly must: string;
  readonly bodies: Buffer[];
  /** Size of each response, by request. */
  readonly sizes: number[];
  /** Sent first, to a separate process; after that each body is sent once. */
  readonly warmUp?: Buffer[];
}

async function ingest(chain: MadeChain): Promise<void> {
  rmSync(ownIndex, { recursive: true, force: true });
  const store = openTraceStore(ownIndex);
  let [parseMs, ingestMs, rawBytes] = [0, 0, 0];
  let written: Promise<void> = Promise.resolve();
  for (let first = chain.first; first <= chain.last; first += BLOCKS_PER_COMMIT) {
    const last = Math.min(chain.last, first + BLOCKS_PER_COMMIT - 1);
    const made = [];
    for (let number = first; number <= last; number++)
      made.push({
        header: JSON.parse(chain.header(number).toString()) as unknown,
        bytes: chain.traces(number),
      });
    let started = performance.now();
    for (const { bytes } of made) JSON.parse(bytes.toString());
    parseMs += performance.now() - started;

    started = performance.now();
    const blocks = made.map(({ header, bytes }) => prepared(header, bytes));
    await written;
    written = store.apply({ blocks });
    // The commit begins in the next tick, as with a real node's responses.
    await nextTurn();
    ingestMs += performance.now() - started;
    rawBytes += made.reduce((sum, { bytes }) => sum + bytes.length, 0);
    progress(last - chain.first + 1, chain.last - chain.first + 1);
  }
  const started = performance.now();
  await written;
  ingestMs += performance.now() - started;
  await store.close();
  const megabytesPerSecond = ((rawBytes / MEGABYTE / ingestMs) * 1000).toFixed(0);
  row({
    name: 'ingest against JSON.parse alone',
    must: '0.3',
    value: parseMs / ingestMs,
    note: `${megabytesPerSecond} MB/s`,
  });
  const diskBytes = fileBytes(ownIndex);
  row({
    name: 'bytes on disk against raw JSON',
    must: 'at most 0.25',
    value: diskBytes / rawBytes,
    note: `${(diskBytes / MEGABYTE).toFixed(0)} MB`,
  });
}

function prepared(header: unknown, bytes: Buffer): IndexedBlock {
  const parsed = parseHeader(header);
  const traces = parseTraceBlock(JSON.parse(bytes.toString()));
  checkBlock(parsed, traces);
  return indexBlock(parsed, traces);
}

function fileBytes(index: string): number {
  return statSync(statSync(index).isDirectory() ? join(index, 'data.mdb') : index).size;
}

async function makeWorkloads(store: TraceStore): Promise<Workload[]> {
  const random = new Random(99);
  const spread = await addressesWith(store, 200, 450);
  const tail = await addressesWith(store, 15, 25);
  console.log(`${tail.length} addresses with about 20 traces, ${spread.length} with 200 to 450`);
  const hot = { fromBlock: FIRST_BLOCK, toBlock: LAST_BLOCK };
  const one = (list: Sided[]) => (): Partial<TraceFilter> => {
    const { side, address } = random.pick(list);
    return { ...hot, [side]: [address], fromBlock: hot.fromBlock + random.below(20) };
  };
  const two = (mode: 'union' | 'intersection') => (): Partial<TraceFilter> => {
    const pick = (): Address[] => [random.pick(spread).address, addressAt(random.below(20))];
    return {
      ...hot,
      fromAddresses: pick(),
      toAddresses: pick(),
      mode,
      fromBlock: hot.fromBlock + random.below(20),
    };
  };
  const busiest = (after: number) => (): Partial<TraceFilter> => ({
    ...hot,
    fromAddresses: [0, 1, 2].map(addressAt),
    after: after + random.below(1000),
    fromBlock: hot.fromBlock + random.below(3),
  });
  const warm = (): Partial<TraceFilter> => ({
    fromBlock: WARM_FIRST,
    toBlock: FIRST_BLOCK - 1,
    toAddresses: [addressAt(random.below(60))],
    after: random.below(50),
  });
  return [
    await workload(store, { name: 'typical', must: '0.5' }, one(tail)),
    await workload(store, { name: 'hot', must: '0.4' }, one(spread)),
    {
      ...(await workload(store, { name: 'cold', must: '0.15', count: COLD_REQUESTS }, one(spread))),
      warmUp: (await workload(store, { name: 'warm', must: '', count: 2000 }, warm)).bodies,
    },
    await workload(store, { name: 'two lists, union', must: '0.3' }, two('union')),
    await workload(store, { name: 'two lists, intersection', must: '0.3' }, two('intersection')),
    await workload(store, { name: 'busy, after 0', must: '' }, busiest(0)),
    await workload(store, { name: 'busy, after 100,000', must: 'within 1.3 of after 0' }, busiest(100_000)),
    await workload(store, { name: 'no address, after 500,000', must: '0.5' }, () => ({
      ...hot,
      after: 500_000 + random.below(1000),
    })),
  ];
}

interface Sided {
  readonly side: 'fromAddresses' | 'toAddresses';
  readonly address: Address;
}

/** Returns addresses with `least` to `most` traces on one side in the hot blocks. */
async function addressesWith(store: TraceStore, least: number, most: number): Promise<Sided[]> {
  const found: Sided[] = [];
  for (let rank = 40; rank < 6000 && found.length < 4000; rank++)
    for (const side of ['fromAddresses', 'toAddresses'] as const) {
      const address = addressAt(rank);
      const count = await countOf(
        store,
        { fromBlock: FIRST_BLOCK, toBlock: LAST_BLOCK, [side]: [address] },
        most + 1,
      );
      if (count >= least && count <= most) found.push({ side, address });
    }
  return found;
}

async function countOf(store: TraceStore, filter: Partial<TraceFilter>, limit: number): Promise<number> {
  const bytes = await answerOf(store, whole({ ...filter, count: limit }));
  return bytes.length === 2 ? 0 : (JSON.parse(Buffer.from(bytes).toString()) as unknown[]).length;
}

/** Returns the result; all requested blocks must be indexed. */
async function answerOf(store: TraceStore, filter: TraceFilter): Promise<Uint8Array> {
  const bytes = await store.filter(filter, Number.POSITIVE_INFINITY);
  if (bytes === undefined) throw new Error('a block is missing');
  return bytes;
}

const whole = (filter: Partial<TraceFilter>): TraceFilter => ({
  fromBlock: 0,
  toBlock: 0,
  fromAddresses: [],
  toAddresses: [],
  mode: 'intersection',
  after: 0,
  count: 200,
  ...filter,
});

interface WorkloadOptions {
  readonly name: string;
  /** Required value; empty if there is none. */
  readonly must: string;
  /** Number of different requests. */
  readonly count?: number;
}

async function workload(
  store: TraceStore,
  { name, must, count = DIFFERENT_REQUESTS }: WorkloadOptions,
  draw: () => Partial<TraceFilter>,
): Promise<Workload> {
  const bodies: Buffer[] = [];
  const sizes: number[] = [];
  for (let id = 0; id < count; id++) {
    const { fromAddresses, toAddresses, ...rest } = whole(draw());
    const params = [{ ...rest, fromAddress: fromAddresses, toAddress: toAddresses }];
    bodies.push(Buffer.from(JSON.stringify({ jsonrpc: '2.0', id, method: 'trace_filter', params })));
    const result = await answerOf(store, { ...rest, fromAddresses, toAddresses });
    sizes.push(result.length + `{"jsonrpc":"2.0","id":${id},"result":}`.length);
  }
  return { name, must, bodies, sizes };
}

async function measure(workloads: readonly Workload[]): Promise<void> {
  const node = await startScript('blockNode.js', folder);
  const start = async (): Promise<ServerProcess> =>
    startFloodgate(await freePort(), [
      '--data-dir',
      serverData,
      '--upstream',
      node.url,
      '--index-from',
      String(WARM_FIRST),
    ]);
  rmSync(serverData, { recursive: true, force: true });
  mkdirSync(serverData);
  const started = performance.now();
  let server = await start();
  console.log(
    `the server indexed the chain from a node in ${((performance.now() - started) / 1000).toFixed(1)} s`,
  );
  let peakRssBytes = 0;
  let busyMs: number | undefined;
  for (const work of workloads) {
    const sizesFile = join(folder, 'sizes.json');
    writeFileSync(sizesFile, JSON.stringify(work.sizes));
    const bare = await startScript('bareServer.js', sizesFile);
    if (work.warmUp !== undefined) {
      peakRssBytes = Math.max(peakRssBytes, peakRssOf(server));
      await server.stop();
      server = await start();
      await load({ url: `${server.url}/v1/mainnet`, bodies: work.warmUp, connections: CONNECTIONS });
    }
    const [ours, theirs] = await measureTurns(work, `${server.url}/v1/mainnet`, bare.url);
    await bare.stop();
    report(work, ours, theirs);
    if (work.name === 'busy, after 0') busyMs = ours.p50Ms / ours.bytesPerAnswer;
    if (work.name === 'busy, after 100,000' && busyMs !== undefined)
      row({
        name: 'time per byte, after 100,000 against after 0',
        must: 'at most 1.3',
        value: ours.p50Ms / ours.bytesPerAnswer / busyMs,
        note: '',
      });
  }
  peakRssBytes = Math.max(peakRssBytes, peakRssOf(server));
  row({
    name: 'peak resident memory of the server, MB',
    must: 'at most 400',
    value: peakRssBytes / MEGABYTE,
    note: 'ingest and all requests',
  });
  await server.stop();
  await node.stop();
}

function report(work: Workload, ours: LoadResult, theirs: LoadResult): void {
  const ratio = ours.requestsPerSecond / theirs.requestsPerSecond;
  const refused = ours.refused > 0 ? `, ${ours.refused} refused` : '';
  const note = `${ours.requestsPerSecond.toFixed(0)}/s, p50 ${ours.p50Ms.toFixed(2)} ms, p99 ${ours.p99Ms.toFixed(2)} ms`;
  row({
    name: work.name,
    must: work.must,
    value: ratio,
    note: `${note}, ${(ours.bytesPerAnswer / 1000).toFixed(0)} kB${refused}`,
  });
}

/** Returns the peak resident memory of a process. */
function peakRssOf({ pid }: ServerProcess): number {
  const kilobytes = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return 1024 * Number(kilobytes ?? 0);
}

async function measureTurns(work: Workload, ours: string, theirs: string): Promise<[LoadResult, LoadResult]> {
  const { bodies } = work;
  if (work.warmUp !== undefined)
    return [
      await load({ url: ours, bodies, connections: CONNECTIONS }),
      await load({ url: theirs, bodies, connections: CONNECTIONS }),
    ];
  const [first, second] = await inTurns(
    [
      { url: ours, bodies },
      { url: theirs, bodies },
    ],
    TURN_MS,
    TURNS,
  );
  if (first === undefined || second === undefined) throw new Error('no measurement');
  return [first, second];
}

if (existsSync(join(folder, 'chain.json'))) console.log(`using the chain in ${folder}`);
else {
  console.log(`creating ${WARM_BLOCKS + BLOCKS} blocks of ${TRACES_PER_BLOCK} traces`);
  makeChain(folder, { first: WARM_FIRST, last: LAST_BLOCK, tracesPerBlock: TRACES_PER_BLOCK }, progress);
}
const chain = openMadeChain(folder);
await ingest(chain);
chain.close();
const store = openTraceStore(ownIndex);
const workloads = await makeWorkloads(store);
await store.close();
await measure(workloads);
if (process.env['BENCH_DATA'] === undefined) rmSync(folder, { recursive: true, force: true });
