/**
 * Compares two workers with two separate servers of one process, of which each serves half of the connections, and
 * with one process. All serve the same chain, in alternation. Figures are ratios. `BENCH_BLOCKS` and `BENCH_TURN_MS`
 * shorten the run; `BENCH_CONNECTIONS` sets the number of clients. With few clients each process often has little work,
 * and a core may be idle.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { processTree } from '../test/server/support/processes.ts';
import { freePort } from '../test/support/freePort.ts';
import {
  BUNDLE,
  buildBundle,
  processorMs,
  type ServerProcess,
  startFloodgate,
  startScript,
} from './support/child.ts';
import { type LoadOptions, load } from './support/load.ts';
import { makeChain } from './support/madeChain.ts';
import { createRules, RULES_HEADERS, RULES_PATH, RULES_TOKEN } from './support/madeRules.ts';
import { addressAt } from './support/mainnetLike.ts';
import { progress } from './support/turns.ts';

const BLOCKS = Number(process.env['BENCH_BLOCKS'] ?? 800);
const TURN_MS = Number(process.env['BENCH_TURN_MS'] ?? 3_000);
const FIRST_BLOCK = 1_024;
const LAST_BLOCK = FIRST_BLOCK + BLOCKS - 1;
const TURNS = 5;
/** Warm-up requests per process, so that frequently used code is compiled, also on a busy machine. */
const WARM_REQUESTS = 24_000;
const WORKERS = 2;
const CONNECTIONS = Number(process.env['BENCH_CONNECTIONS'] ?? 128);
const MEGABYTE = 1e6;
/** The minimum sizes. */
const NO_CACHES = ['--index-cache-bytes', String(2 ** 20 * WORKERS), '--gateway-cache-memory-bytes', '0'];

const hex = (value: number): string => `0x${value.toString(16)}`;
const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

const range = { fromBlock: hex(FIRST_BLOCK), toBlock: hex(LAST_BLOCK) };
const WORKLOADS: Readonly<Record<string, (i: number) => readonly [method: string, ...params: unknown[]]>> = {
  // About twenty traces: an address with few calls.
  'typical trace_filter': (i) => [
    'trace_filter',
    { ...range, fromAddress: [addressAt(2_000 + i)], count: 20 },
  ],
  'cached block': (i) => ['eth_getBlockByNumber', hex(FIRST_BLOCK + (i % BLOCKS)), false],
  'uncached call': (i) => ['eth_getBalance', `0x${i.toString(16).padStart(40, '0')}`, 'latest'],
};

/** A request independent of the server. */
type Asked = Pick<LoadOptions, 'method' | 'headers' | 'bodies'> & { readonly path: string };

const BODIES = 2_000;
const callsOf = (make: (i: number) => readonly [method: string, ...params: unknown[]]): Asked => ({
  path: '/v1/mainnet',
  bodies: Array.from({ length: BODIES }, (_, i) => {
    const [method, ...params] = make(i);
    return Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: i, method, params }));
  }),
});
const RULES = 100;
const LIST_OF_RULES: Asked = {
  path: RULES_PATH,
  method: 'GET',
  headers: RULES_HEADERS,
  bodies: [Buffer.alloc(0)],
};

/** Result of one measurement. */
interface Measured {
  readonly perSecond: number;
  /** Processor time of the servers per request. */
  readonly serverMs: number;
}

/** Sends requests to all servers at the same time, each over its share of the connections. */
async function ask(
  servers: readonly ServerProcess[],
  { path, ...what }: Asked & { readonly durationMs?: number },
) {
  const connections = CONNECTIONS / servers.length;
  const loads = await Promise.all(servers.map(({ url }) => load({ url: url + path, connections, ...what })));
  const sum = (name: 'requests' | 'requestsPerSecond' | 'refused'): number =>
    loads.reduce((total, one) => total + one[name], 0);
  return {
    requests: sum('requests'),
    requestsPerSecond: sum('requestsPerSecond'),
    refused: sum('refused'),
  };
}

async function turn(servers: readonly ServerProcess[], asked: Asked): Promise<Measured> {
  const pids = servers.flatMap(({ pid }) => processTree(pid));
  const ofServer = (): number => pids.reduce((sum, pid) => sum + processorMs(pid), 0);
  const beforeMs = ofServer();
  const { requests, requestsPerSecond, refused } = await ask(servers, { ...asked, durationMs: TURN_MS });
  if (refused > 0) throw new Error(`${refused} requests were refused`);
  return { perSecond: requestsPerSecond, serverMs: (ofServer() - beforeMs) / requests };
}

async function compare(
  name: string,
  what: Asked,
  { one, other, many }: Readonly<Record<'one' | 'other' | 'many', ServerProcess>>,
): Promise<void> {
  const asked = { one: [one], many: [many], apart: [one, other] };
  const measured: Record<keyof typeof asked, Measured[]> = { one: [], many: [], apart: [] };
  // Each worker compiles code and caches responses separately.
  const often = (requests: number) => ({
    ...what,
    bodies: Array.from(
      { length: requests },
      (_, i) => what.bodies[i % what.bodies.length] ?? Buffer.alloc(0),
    ),
  });
  await ask(asked.one, often(WARM_REQUESTS));
  await ask(asked.many, often(WORKERS * WARM_REQUESTS));
  await ask(asked.apart, often(WARM_REQUESTS));
  for (let i = 0; i < TURNS; i++) {
    measured.one.push(await turn(asked.one, what));
    measured.many.push(await turn(asked.many, what));
    measured.apart.push(await turn(asked.apart, what));
  }
  const of = (which: keyof typeof asked, figure: keyof Measured): number =>
    median(measured[which].map((result) => result[figure]));
  const against = (which: 'one' | 'apart', figure: keyof Measured): string =>
    (of('many', figure) / of(which, figure)).toFixed(2);
  console.log(
    `${name}: ${against('apart', 'perSecond')} times two servers of one process (must: at least 0.9), ` +
      `${against('one', 'perSecond')} times one process; processor time per request ` +
      `${against('apart', 'serverMs')} and ${against('one', 'serverMs')} times`,
  );
}

/** Returns the private memory of a process. */
function privateBytes(pid: number): { readonly anonymous: number; readonly pss: number } {
  const of = (file: string, name: string): number =>
    1024 *
    Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(readFileSync(`/proc/${pid}/${file}`, 'utf8'))?.[1]);
  return { anonymous: of('status', 'RssAnon'), pss: of('smaps_rollup', 'Pss') };
}

const folder = mkdtempSync(join(tmpdir(), 'floodgate-bench-workers-'));
process.env['FLOODGATE_API_TOKEN'] = RULES_TOKEN;
const running: ServerProcess[] = [];
async function start(
  name: string,
  workers: number,
  { node, more = [] }: { readonly node: ServerProcess; readonly more?: readonly string[] },
): Promise<ServerProcess> {
  const flags = [
    '--data-dir',
    join(folder, name),
    '--upstream',
    node.url,
    '--index-from',
    String(FIRST_BLOCK),
  ];
  const server = await startFloodgate(await freePort(), [...flags, '--workers', String(workers), ...more], {
    program: BUNDLE,
  });
  running.push(server);
  return server;
}

try {
  buildBundle();
  makeChain(folder, { first: FIRST_BLOCK, last: LAST_BLOCK, tracesPerBlock: 1_000 }, progress);
  const node = await startScript('blockNode.js', folder);
  running.push(node);
  const servers = {
    one: await start('one', 1, { node }),
    other: await start('other', 1, { node }),
    many: await start('many', WORKERS, { node }),
  };
  const ofWorkers = ({ pid }: ServerProcess) => processTree(pid).slice(1).map(privateBytes);
  const atRest = ofWorkers(servers.many);
  for (const [name, make] of Object.entries(WORKLOADS)) await compare(name, callsOf(make), servers);
  const inUse = ofWorkers(servers.many);
  // The configured cache sizes are those of the machine: with more workers, each has a smaller share.
  const uncached = await start('uncached', WORKERS, { node, more: NO_CACHES });
  for (const make of Object.values(WORKLOADS))
    await ask([uncached], { ...callsOf(make), durationMs: WORKERS * TURN_MS });
  const alone = ofWorkers(uncached);
  for (const { url } of [servers.one, servers.other, servers.many]) await createRules(url, RULES);
  await compare(`list of ${RULES} rules`, LIST_OF_RULES, servers);
  const most = (all: readonly { anonymous: number; pss: number }[], name: 'anonymous' | 'pss'): string =>
    (Math.max(...all.map((bytes) => bytes[name])) / MEGABYTE).toFixed(0);
  console.log(
    `memory of an additional worker: anonymous ${most(atRest, 'anonymous')} MB at rest (Pss ${most(atRest, 'pss')}), ` +
      `${most(inUse, 'anonymous')} MB after this load (Pss ${most(inUse, 'pss')}), ${most(alone, 'anonymous')} MB without the ` +
      'caches of the machine; must: at most 150 MB',
  );
} finally {
  for (const server of running.reverse()) await server.stop();
  rmSync(folder, { recursive: true, force: true });
}
