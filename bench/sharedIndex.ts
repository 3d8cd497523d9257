/**
 * The index of traces on ClickHouse's engine (chdb, behind the tests' HTTP server): bytes, ingest and latency.
 * Latency is compared with `SELECT 1` through the same client, in alternation. The engine runs in a separate process
 * on the same machine as this process. The main thread of that process is the tests' HTTP server,
 * which a real ClickHouse does not have: its time is reported separately and not counted.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@clickhouse/client';
import {
  migrateSharedTraces,
  openSharedTraces,
  verifySharedTraces,
} from '../src/ethereum/store/shared/index.ts';
import { checkBlock, parseHeader, parseTraceBlock } from '../src/ethereum/traces/convert/index.ts';
import {
  type Address,
  type Hash,
  type IndexedBlock,
  indexBlock,
  JsonWriter,
  MAX_COUNT,
  type TraceFilter,
} from '../src/ethereum/traces/index.ts';
import { ClickHouseServer } from '../test/support/clickHouse.ts';
import { Random } from '../test/support/random.ts';
import { until } from '../test/support/until.ts';
import { mainThreadMs, processorMs } from './support/child.ts';
import { makeChain, openMadeChain } from './support/madeChain.ts';
import { addressAt } from './support/mainnetLike.ts';
import { progress, row } from './support/turns.ts';

const BLOCKS = Number(process.env['BENCH_BLOCKS'] ?? 864);
const TRACES_PER_BLOCK = 1_000;
const FIRST = 1_088;
const LAST = FIRST + BLOCKS - 1;
/** Number of blocks that ingest applies at once when it has a large lag. */
const BLOCKS_PER_CHANGE = 64;
const QUESTIONS = 60;
const MAX_BYTES = 64 * 1024 * 1024;
const HOT_ADDRESSES = 40;
const TAIL_ADDRESSES = 4_000;
const MEGABYTE = 1e6;

const folder = mkdtempSync(join(tmpdir(), 'floodgate-bench-'));
const clickHouse = await ClickHouseServer.start();
await migrateSharedTraces(clickHouse.url());
const shared = openSharedTraces(clickHouse.url());
const identity = { chainId: 1, genesisHash: `0x${'00'.repeat(32)}` as Hash }; // 32 bytes
const [reader, writer] = [shared.reader(identity), shared.writer(identity)];
try {
  makeChain(folder, { first: FIRST, last: LAST, tracesPerBlock: TRACES_PER_BLOCK }, progress);
  const chain = openMadeChain(folder);
  const rawBytes = await ingest(chain);
  for (const table of ['trace_parties', 'trace_chunks', 'trace_blocks'])
    await clickHouse.query(`OPTIMIZE TABLE ${table} FINAL`);
  const bytes = Number(await clickHouse.query('SELECT sum(bytes_on_disk) FROM system.parts WHERE active'));
  row({
    name: 'bytes against the raw JSON',
    value: bytes / rawBytes,
    must: 'at most 0.17',
    note: `${(bytes / MEGABYTE).toFixed(0)} MB of ${(rawBytes / MEGABYTE).toFixed(0)} MB`,
  });
  await verify();
  await ask();
  chain.close();
} finally {
  await shared.close();
  await clickHouse.remove();
  rmSync(folder, { recursive: true, force: true });
}

async function ingest(chain: ReturnType<typeof openMadeChain>): Promise<number> {
  let [rawBytes, wallMs, readyMs] = [0, 0, 0];
  const before = { own: ownMs(), engine: engineMs(), bridge: mainThreadMs(clickHouse.pid) };
  for (let first = FIRST; first <= LAST; first += BLOCKS_PER_CHANGE) {
    const blocks: IndexedBlock[] = [];
    const started = ownMs();
    for (let number = first; number <= Math.min(LAST, first + BLOCKS_PER_CHANGE - 1); number++) {
      const bytes = chain.traces(number);
      rawBytes += bytes.length;
      const header = parseHeader(JSON.parse(chain.header(number).toString()));
      const traces = parseTraceBlock(JSON.parse(bytes.toString()));
      checkBlock(header, traces);
      blocks.push(indexBlock(header, traces));
    }
    readyMs += ownMs() - started;
    const applied = performance.now();
    await writer.write(blocks);
    wallMs += performance.now() - applied;
    progress(Math.min(LAST, first + BLOCKS_PER_CHANGE - 1) - FIRST + 1, BLOCKS);
  }
  const own = ownMs() - before.own;
  await until('the engine to finish its merges', async () =>
    (await clickHouse.query('SELECT count() FROM system.merges')) === '0' ? true : undefined,
  );
  const engine = engineMs() - before.engine;
  const each = (ms: number): string => (ms / BLOCKS).toFixed(1);
  const parts = `processor ms per block: ${each(readyMs)} to prepare it, ${each(own - readyMs)} to write it, ${each(engine)} of the engine with merges`;
  row({
    name: 'ingest, blocks of 1,000 traces per second and core',
    value: BLOCKS / ((own + engine) / 1_000),
    must: 'at least 60',
    note: `${parts}; without ${each(mainThreadMs(clickHouse.pid) - before.bridge)} ms of the tests' HTTP server`,
  });
  row({
    name: '  by the wall clock',
    value: BLOCKS / (wallMs / 1_000),
    must: '',
    note: 'blocks prepared before',
  });
  return rawBytes;
}

async function verify(): Promise<void> {
  const before = { wallMs: performance.now(), own: ownMs(), engine: engineMs() };
  const options = { isVerified: () => false, verified: () => undefined, partiesRead: () => undefined };
  for await (const problem of verifySharedTraces(clickHouse.url(), options)) throw new Error(problem);
  const each = (ms: number): string => (ms / BLOCKS).toFixed(1);
  row({
    name: 'verify, thousands of traces per second, by the wall clock',
    value: (BLOCKS * TRACES_PER_BLOCK) / (performance.now() - before.wallMs),
    must: '',
    note: `processor ms per block: ${each(ownMs() - before.own)} of this process, ${each(engineMs() - before.engine)} of the engine`,
  });
}

function ownMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

function engineMs(): number {
  return processorMs(clickHouse.pid) - mainThreadMs(clickHouse.pid);
}

async function ask(): Promise<void> {
  const random = new Random(7);
  const address = (ranks: number): Address => addressAt(random.below(ranks));
  const filterOf = (from: Address, after = 0): TraceFilter => ({
    fromBlock: FIRST,
    toBlock: Math.min(LAST, FIRST + 799),
    toAddresses: [],
    fromAddresses: [from],
    mode: 'intersection',
    after,
    count: MAX_COUNT,
  });
  const client = createClient({
    url: `http://127.0.0.1:${clickHouse.port}`,
    username: 'floodgate',
    password: decodeURIComponent(new URL(clickHouse.url()).password),
  });
  const json = new JsonWriter();
  const asked = (filterFor: () => TraceFilter) => async () => {
    await reader.filter(filterFor(), { maxBytes: MAX_BYTES, json });
  };
  const all = (after: number) => (): TraceFilter => ({ ...filterOf(address(1)), fromAddresses: [], after });
  const contenders = {
    one: async () => {
      await (await client.query({ query: 'SELECT 1', format: 'JSON' })).text();
    },
    typical: asked(() => filterOf(address(TAIL_ADDRESSES))),
    hot: asked(() => filterOf(address(HOT_ADDRESSES))),
    far: asked(() => filterOf(address(2), 20_000)),
    near: asked(() => filterOf(address(2))),
    all: asked(all(0)),
    allFar: asked(all(100_000)),
  };
  const times = new Map(Object.keys(contenders).map((name) => [name, [] as number[]]));
  const engine = new Map(Object.keys(contenders).map((name) => [name, 0]));
  for (let question = -5; question < QUESTIONS; question++)
    for (const [name, run] of Object.entries(contenders)) {
      const [started, before] = [performance.now(), engineMs()];
      await run();
      if (question < 0) continue;
      times.get(name)?.push(performance.now() - started);
      engine.set(name, (engine.get(name) ?? 0) + engineMs() - before);
    }
  await client.close();
  const p = (name: keyof typeof contenders, share: number): number => {
    const sorted = (times.get(name) ?? []).sort((a, b) => a - b);
    return sorted[Math.floor(share * sorted.length)] ?? 0;
  };
  const engineOf = (name: keyof typeof contenders): string =>
    ((engine.get(name) ?? 0) / QUESTIONS).toFixed(1);
  const note = (name: keyof typeof contenders): string =>
    `p50 ${p(name, 0.5).toFixed(1)} ms, p99 ${p(name, 0.99).toFixed(1)} ms, engine's processor ${engineOf(name)} ms; SELECT 1 ${p('one', 0.5).toFixed(1)}, ${engineOf('one')} ms`;
  const against = (name: keyof typeof contenders, other: keyof typeof contenders): number =>
    p(name, 0.5) / p(other, 0.5);
  row({
    name: 'typical, p50 against SELECT 1',
    value: against('typical', 'one'),
    must: 'at most 8',
    note: note('typical'),
  });
  row({
    name: 'hot, p50 against SELECT 1',
    value: against('hot', 'one'),
    must: 'at most 16',
    note: note('hot'),
  });
  row({
    name: 'after: 20000 of an address against 0',
    value: against('far', 'near'),
    must: 'at most 1.5',
    note: note('far'),
  });
  row({
    name: 'after: 100000 of all against 0',
    value: against('allFar', 'all'),
    must: 'at most 1.5',
    note: note('allFar'),
  });
}
