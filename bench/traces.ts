/**
 * trace_filter on a chain like mainnet's: 800 blocks in recent use and 800 that are cold, 1,000 traces each. Every figure
 * is a ratio of two measurements of this run: Floodgate against a bare node:http server that sends as many bytes, each in
 * a process of its own, taken in turns.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openTraceStore } from '../src/storage/lmdb/traces/traceStore.ts';
import { checkBlock, parseHeader, parseTraceBlock } from '../src/traces/convert/index.ts';
import {
  type Address,
  type Hash,
  indexBlock,
  type TraceFilter,
  type TraceStore,
} from '../src/traces/index.ts';
import { Random } from '../test/support/random.ts';
import { startFloodgate, startScript } from './child.ts';
import { freePort } from './freePort.ts';
import { type LoadResult, load } from './load.ts';
import { addressAt, MainnetLike } from './mainnetLike.ts';

const TRACES_PER_BLOCK = 1000;
const HOT_BLOCKS = Number(process.env['BENCH_BLOCKS'] ?? 800);
const FIRST_BLOCK = 1024;
const COLD_FIRST = FIRST_BLOCK + HOT_BLOCKS;
const LAST_BLOCK = FIRST_BLOCK + 2 * HOT_BLOCKS - 1;
const BLOCKS_PER_COMMIT = 64;
const CONNECTIONS = 8;
const TURNS = 3;
const TURN_MS = Number(process.env['BENCH_TURN_MS'] ?? 3000);
const DIFFERENT_REQUESTS = 10_000;
const MEGABYTE = 1e6;

const folder = process.env['BENCH_DATA'] ?? mkdtempSync(join(tmpdir(), 'floodgate-bench-'));
const traces = join(folder, 'traces');
const headersFile = join(folder, 'headers.json');

interface Workload {
  readonly name: string;
  readonly must: string;
  readonly bodies: Buffer[];
  /** Bytes of each answer, by request. */
  readonly sizes: number[];
  readonly once?: boolean;
}

async function prepare(): Promise<void> {
  console.log(`making ${2 * HOT_BLOCKS} blocks of ${TRACES_PER_BLOCK} traces and indexing them`);
  const chain = new MainnetLike(1, TRACES_PER_BLOCK);
  const store = openTraceStore(traces);
  const genesis = chain.block(0).header;
  let head: object = genesis;
  let [parseMs, ingestMs, rawBytes] = [0, 0, 0];
  await store.bindChain({ chainId: 1, genesisHash: (genesis as { hash: Hash }).hash });
  for (let first = FIRST_BLOCK; first <= LAST_BLOCK; first += BLOCKS_PER_COMMIT) {
    const made = [];
    for (let n = first; n < first + BLOCKS_PER_COMMIT && n <= LAST_BLOCK; n++) {
      const block = chain.block(n);
      head = block.header;
      made.push({ header: block.header, bytes: Buffer.from(JSON.stringify(block.traces)) });
    }
    let started = performance.now();
    for (const { bytes } of made) JSON.parse(bytes.toString());
    parseMs += performance.now() - started;

    started = performance.now();
    const blocks = made.map(({ header, bytes }) => {
      const parsed = parseHeader(header);
      const traces = parseTraceBlock(JSON.parse(bytes.toString()));
      checkBlock(parsed, traces);
      return indexBlock(parsed, traces);
    });
    await store.apply({ blocks });
    ingestMs += performance.now() - started;
    rawBytes += made.reduce((sum, { bytes }) => sum + bytes.length, 0);
    progress(Math.min(LAST_BLOCK, first + BLOCKS_PER_COMMIT - 1) - FIRST_BLOCK + 1, 2 * HOT_BLOCKS);
  }
  await store.close();
  writeFileSync(headersFile, JSON.stringify({ genesis, head }));
  const file = statSync(traces).isDirectory() ? join(traces, 'data.mdb') : traces;
  const diskBytes = statSync(file).size;
  row(
    'ingest against JSON.parse alone',
    '0.3',
    parseMs / ingestMs,
    `${((rawBytes / MEGABYTE / ingestMs) * 1000).toFixed(0)} MB/s`,
  );
  row(
    'bytes on disk against raw JSON',
    'at most 0.25',
    diskBytes / rawBytes,
    `${(diskBytes / MEGABYTE).toFixed(0)} MB`,
  );
  row(
    'resident memory after ingest, MB',
    'at most 400',
    process.memoryUsage.rss() / MEGABYTE,
    'with the generator',
  );
}

function makeWorkloads(store: TraceStore): Workload[] {
  const random = new Random(99);
  const spread = addressesWith(store, FIRST_BLOCK, 200, 450);
  const tail = addressesWith(store, FIRST_BLOCK, 15, 25);
  console.log(`${tail.length} addresses with about 20 traces, ${spread.length} with 200 to 450`);
  const hot = { fromBlock: FIRST_BLOCK, toBlock: FIRST_BLOCK + HOT_BLOCKS - 1 };
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
  const cold = (): Partial<TraceFilter> => {
    const { side, address } = random.pick(spread);
    return { fromBlock: COLD_FIRST, toBlock: LAST_BLOCK, [side]: [address] };
  };
  return [
    workload(store, 'typical', '0.5', DIFFERENT_REQUESTS, one(tail)),
    workload(store, 'hot', '0.4', DIFFERENT_REQUESTS, one(spread)),
    { ...workload(store, 'cold', '0.15', 300, cold), once: true },
    workload(store, 'two lists, union', '0.3', DIFFERENT_REQUESTS, two('union')),
    workload(store, 'two lists, intersection', '0.3', DIFFERENT_REQUESTS, two('intersection')),
    workload(store, 'busy, after 0', '', DIFFERENT_REQUESTS, busiest(0)),
    workload(store, 'busy, after 100,000', 'within 1.3 of after 0', DIFFERENT_REQUESTS, busiest(100_000)),
    workload(store, 'no address, after 500,000', '0.5', DIFFERENT_REQUESTS, () => ({
      ...hot,
      after: 500_000 + random.below(1000),
    })),
  ];
}

interface Sided {
  readonly side: 'fromAddresses' | 'toAddresses';
  readonly address: Address;
}

/** Addresses of the chain that have between `least` and `most` traces on one side over the hot blocks. */
function addressesWith(store: TraceStore, fromBlock: number, least: number, most: number): Sided[] {
  const found: Sided[] = [];
  for (let rank = 40; rank < 6000 && found.length < 4000; rank++)
    for (const side of ['fromAddresses', 'toAddresses'] as const) {
      const address = addressAt(rank);
      const count = countOf(
        store,
        { fromBlock, toBlock: fromBlock + HOT_BLOCKS - 1, [side]: [address] },
        most + 1,
      );
      if (count >= least && count <= most) found.push({ side, address });
    }
  return found;
}

function countOf(store: TraceStore, filter: Partial<TraceFilter>, limit: number): number {
  const bytes = store.filter(whole({ ...filter, count: limit }), Number.POSITIVE_INFINITY) as Buffer; // lmdb answers at once
  return bytes.length === 2 ? 0 : (JSON.parse(bytes.toString()) as unknown[]).length;
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

function workload(
  store: TraceStore,
  name: string,
  must: string,
  count: number,
  draw: () => Partial<TraceFilter>,
): Workload {
  const bodies: Buffer[] = [];
  const sizes: number[] = [];
  for (let id = 0; id < count; id++) {
    const { fromAddresses, toAddresses, ...rest } = whole(draw());
    const params = [{ ...rest, fromAddress: fromAddresses, toAddress: toAddresses }];
    bodies.push(Buffer.from(JSON.stringify({ jsonrpc: '2.0', id, method: 'trace_filter', params })));
    const result = store.filter({ ...rest, fromAddresses, toAddresses }, Number.POSITIVE_INFINITY) as Buffer; // as above
    sizes.push(result.length + `{"jsonrpc":"2.0","id":${id},"result":}`.length);
  }
  return { name, must, bodies, sizes };
}

async function measure(workloads: readonly Workload[]): Promise<void> {
  const node = await startScript('headNode.js', headersFile);
  const flags = ['--data-dir', folder, '--upstream', node.url];
  let server = await startFloodgate(await freePort(), flags);
  let busy: number | undefined;
  let peakRss = 0;
  for (const work of workloads) {
    const sizesFile = join(folder, 'sizes.json');
    writeFileSync(sizesFile, JSON.stringify(work.sizes));
    const bare = await startScript('bareServer.js', sizesFile);
    if (work.once) {
      // A fresh process, warmed on the hot blocks only: the cold ones are read for the first time.
      await server.stop();
      server = await startFloodgate(await freePort(), flags);
      const warm = workloads.find(({ name }) => name === 'hot');
      await load({
        url: `${server.url}/v1/mainnet`,
        bodies: warm?.bodies.slice(0, 3000) ?? [],
        connections: CONNECTIONS,
      });
    }
    const [ours, theirs] = await inTurns(work, `${server.url}/v1/mainnet`, bare.url);
    await bare.stop();
    peakRss = Math.max(peakRss, rssOf(server.pid));
    const ratio = ours.requestsPerSecond / theirs.requestsPerSecond;
    const note = `${ours.requestsPerSecond.toFixed(0)}/s, p50 ${ours.p50Ms.toFixed(2)} ms, p99 ${ours.p99Ms.toFixed(2)} ms, ${(ours.bytesPerAnswer / 1000).toFixed(0)} kB`;
    row(work.name, work.must, ratio, note + (ours.refused > 0 ? `, ${ours.refused} refused` : ''));
    if (work.name === 'busy, after 0') busy = ours.p50Ms / ours.bytesPerAnswer;
    if (work.name.startsWith('busy, after 1') && busy !== undefined)
      row(
        'time a byte, after 100,000 against after 0',
        'at most 1.3',
        ours.p50Ms / ours.bytesPerAnswer / busy,
        '',
      );
  }
  row('resident memory of the server, MB', 'at most 400', peakRss / MEGABYTE, 'after all requests');
  await server.stop();
  await node.stop();
}

async function inTurns(work: Workload, ours: string, theirs: string): Promise<[LoadResult, LoadResult]> {
  const turn = (url: string, durationMs: number): Promise<LoadResult> =>
    load({ url, bodies: work.bodies, connections: CONNECTIONS, ...(!work.once && { durationMs }) });
  if (work.once) return [await turn(ours, 0), await turn(theirs, 0)];
  const results: [LoadResult[], LoadResult[]] = [[], []];
  await turn(ours, TURN_MS);
  await turn(theirs, TURN_MS / 3);
  for (let i = 0; i < TURNS; i++) {
    results[0].push(await turn(ours, TURN_MS));
    results[1].push(await turn(theirs, TURN_MS));
  }
  return [median(results[0]), median(results[1])];
}

function median(results: readonly LoadResult[]): LoadResult {
  const sorted = [...results].sort((a, b) => a.requestsPerSecond - b.requestsPerSecond);
  const middle = sorted[sorted.length >>> 1];
  if (middle === undefined) throw new Error('nothing was measured');
  return middle;
}

function rssOf(pid: number): number {
  const kilobytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return 1024 * Number(kilobytes ?? 0);
}

function row(name: string, must: string, value: number, note: string): void {
  console.log(`${name.padEnd(46)} ${value.toFixed(2).padStart(8)}   ${must.padEnd(22)} ${note}`);
}

function progress(done: number, total: number): void {
  if (process.stdout.isTTY) process.stdout.write(`\r${done} of ${total} blocks${done === total ? '\n' : ''}`);
}

if (existsSync(headersFile)) console.log(`using the chain in ${folder}`);
else await prepare();
const store = openTraceStore(traces);
const workloads = makeWorkloads(store);
await store.close();
await measure(workloads);
if (process.env['BENCH_DATA'] === undefined) rmSync(folder, { recursive: true, force: true });
