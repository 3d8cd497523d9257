/**
 * The relay. Every figure is a ratio or a difference of two measurements of this run, in alternation, each server in
 * a separate process. Cached responses are compared with a bare node:http server, relayed ones with the node itself,
 * a killed node with the same load without it, and a flood of unsupported methods with a bare server under the same
 * flood.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ReplicatedChain, startReplicatedChain } from '../test/gateway/support/replicatedChain.ts';
import { freePort } from '../test/support/freePort.ts';
import { type ServerProcess, startFloodgate, startScript } from './support/child.ts';
import { type LoadResult, load } from './support/load.ts';
import { withOwnCore } from './support/ownCore.ts';

/** anvil's final block is 64 blocks below its head. */
const BLOCKS = 120;
const FINAL_BLOCKS = 50;
const NODES = 3;
const TURNS = 3;
/** A p99 varies more than a rate: by half between measurements. */
const FLOOD_TURNS = Number(process.env['BENCH_TURNS'] ?? 15);
const TURN_MS = Number(process.env['BENCH_TURN_MS'] ?? 2000);
const CONNECTIONS = 8;
const FLOOD_PER_SECOND = 10_000;
/** Size of the gateway's response to an unsupported method. */
const REJECTION_BYTES = 160;

const PARTS = ['kept', 'relayed', 'flood', 'killed'] as const;
/** Parts named as arguments. Default: all. */
const named = process.argv.slice(2);
const strange = named.find((name) => !PARTS.some((part) => part === name));
if (strange !== undefined) {
  console.error(`gateway: unknown part ${strange}; the parts are ${PARTS.join(', ')}`);
  process.exit(64);
}
const wanted = (part: (typeof PARTS)[number]): boolean => named.length === 0 || named.includes(part);

const folder = mkdtempSync(join(tmpdir(), 'floodgate-bench-gateway-'));
const running: ServerProcess[] = [];

async function floodgate(name: string, upstreams: readonly string[]): Promise<ServerProcess> {
  const flags = upstreams.flatMap((url) => ['--upstream', url]);
  const server = await startFloodgate(await freePort(), ['--data-dir', join(folder, name), ...flags]);
  running.push(server);
  return server;
}

const bodyOf = (id: number, method: string, ...params: readonly unknown[]): Buffer =>
  Buffer.from(JSON.stringify({ jsonrpc: '2.0', id, method, params }));

let nextAddress = 2 ** 40;
/** Returns balance requests for new addresses. */
const freshBalances = (count: number): Buffer[] =>
  Array.from({ length: count }, (_, id) =>
    bodyOf(id, 'eth_getBalance', `0x${(nextAddress++).toString(16).padStart(40, '0')}`, 'latest'),
  );

interface Line {
  readonly what: string;
  readonly measured: string;
  readonly must: string;
  readonly reached: boolean;
}
const lines: Line[] = [];
function report(line: Line): void {
  lines.push(line);
  console.log(
    `${line.reached ? 'reached ' : 'MISSED  '} ${line.what}\n          ${line.measured}; must: ${line.must}`,
  );
}

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
const perSecond = (results: readonly LoadResult[]): number => median(results.map((r) => r.requestsPerSecond));

async function keptAnswers(server: ServerProcess): Promise<void> {
  const url = `${server.url}/v1/mainnet`;
  const bodies = Array.from({ length: FINAL_BLOCKS }, (_, i) =>
    bodyOf(i, 'eth_getBlockByNumber', `0x${(i + 1).toString(16)}`, false),
  );
  const sizes: number[] = [];
  for (const body of bodies) {
    const headers = { 'content-type': 'application/json' };
    sizes.push((await (await fetch(url, { method: 'POST', headers, body })).arrayBuffer()).byteLength);
  }
  const sizesFile = join(folder, 'sizes.json');
  writeFileSync(sizesFile, JSON.stringify(sizes));
  const bare = await startScript('bareServer.js', sizesFile);
  running.push(bare);
  const ours: LoadResult[] = [];
  const theirs: LoadResult[] = [];
  for (let turn = 0; turn <= TURNS; turn++) {
    const options = { bodies, connections: CONNECTIONS, durationMs: TURN_MS };
    const bareResult = await load({ ...options, url: bare.url });
    const ourResult = await load({ ...options, url });
    // The first measurement is a warm-up.
    if (turn > 0) [theirs.push(bareResult), ours.push(ourResult)];
  }
  const ratio = perSecond(ours) / perSecond(theirs);
  report({
    what: 'cached eth_getBlockByNumber, against a bare node:http server',
    measured: `${ratio.toFixed(2)} (${perSecond(ours).toFixed(0)} against ${perSecond(theirs).toFixed(0)} requests/s)`,
    must: 'at least 0.6',
    reached: ratio >= 0.6,
  });
}

async function relayedAnswers(server: ServerProcess, nodeUrl: string): Promise<void> {
  const ours: number[] = [];
  const theirs: number[] = [];
  for (let turn = 0; turn <= TURNS; turn++) {
    const direct = await load({ url: nodeUrl, bodies: freshBalances(2_000), connections: 1 });
    const relayed = await load({
      url: `${server.url}/v1/mainnet`,
      bodies: freshBalances(2_000),
      connections: 1,
    });
    if (turn > 0) [theirs.push(direct.p50Ms), ours.push(relayed.p50Ms)];
  }
  const added = median(ours) - median(theirs);
  report({
    what: 'relayed eth_getBalance, against the node itself, p50',
    measured: `${added.toFixed(3)} ms more (${median(ours).toFixed(3)} against ${median(theirs).toFixed(3)} ms)`,
    must: 'at most 0.5 ms more',
    reached: added <= 0.5,
  });
}

/** Returns the number of calls with an error so far, from the server's metrics. */
async function errorsOf(server: ServerProcess): Promise<number> {
  const text = await (await fetch(`${server.url}/metrics`)).text();
  return text
    .split('\n')
    .filter((line) => line.startsWith('floodgate_gateway_call_errors_total{'))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
}

async function killedNode(server: ServerProcess, chain: ReplicatedChain): Promise<void> {
  const url = `${server.url}/v1/mainnet`;
  const measure = (): Promise<LoadResult> =>
    load({ url, bodies: freshBalances(60_000), connections: CONNECTIONS, durationMs: 2 * TURN_MS });
  await measure();
  const before = await measure();
  const errorsBefore = await errorsOf(server);
  const during = measure();
  setTimeout(() => process.kill(chain.nodes[1]?.pid ?? 0, 'SIGKILL'), TURN_MS / 2);
  const after = await during;
  const failed = (await errorsOf(server)) - errorsBefore + after.refused;
  report({
    what: 'one of three nodes killed under load: calls that failed',
    measured: `${failed} of ${after.requests}`,
    must: 'none',
    reached: failed === 0,
  });
  const ratio = after.p99Ms / before.p99Ms;
  report({
    what: 'one of three nodes killed under load: p99',
    measured: `${ratio.toFixed(2)} times (${after.p99Ms.toFixed(2)} against ${before.p99Ms.toFixed(2)} ms)`,
    must: 'at most 3 times',
    reached: ratio <= 3,
  });
}

/** Starts a server that only responds to a flood, with as many bytes as the gateway. */
async function floodControl(): Promise<ServerProcess> {
  const sizesFile = join(folder, 'rejections.json');
  writeFileSync(sizesFile, JSON.stringify([REJECTION_BYTES, REJECTION_BYTES]));
  const control = await startScript('bareServer.js', sizesFile);
  running.push(control);
  return control;
}

/**
 * Measures other clients of the gateway while the gateway receives a flood, and while the control receives it on the
 * same core.
 */
async function flood(server: ServerProcess, control: ServerProcess): Promise<void> {
  const url = `${server.url}/v1/mainnet`;
  const measure = (): Promise<LoadResult> =>
    load({ url, bodies: freshBalances(60_000), connections: 4, durationMs: 2 * TURN_MS });
  const flooded = async (target: string): Promise<{ p99Ms: number; perSecond: number }> => {
    const flooder = await startScript('flood.js', target, String(FLOOD_PER_SECOND));
    const answers = async (): Promise<number> => Number(await (await fetch(flooder.url)).text());
    const startMs = performance.now();
    const first = await answers();
    const { p99Ms } = await measure();
    const perSecond = (1_000 * ((await answers()) - first)) / (performance.now() - startMs);
    await flooder.stop();
    return { p99Ms, perSecond };
  };
  await measure();
  const quiet: number[] = [];
  const ofControl: { p99Ms: number; perSecond: number }[] = [];
  const ofGateway: { p99Ms: number; perSecond: number }[] = [];
  for (let turn = 0; turn < FLOOD_TURNS; turn++) {
    quiet.push((await measure()).p99Ms);
    ofControl.push(await flooded(control.url));
    ofGateway.push(await flooded(url));
  }
  const p99 = (results: readonly { p99Ms: number }[]): number => median(results.map(({ p99Ms }) => p99Ms));
  const rate = (results: readonly { perSecond: number }[]): number =>
    median(results.map(({ perSecond }) => perSecond));
  // Ratios of each round, because the host may be slower for a while.
  const ratio = median(ofGateway.map(({ p99Ms }, turn) => p99Ms / (ofControl[turn]?.p99Ms ?? Number.NaN)));
  const rates = `${rate(ofGateway).toFixed(0)} and ${rate(ofControl).toFixed(0)} answers/s`;
  report({
    what: 'a flood of rejected calls: p99 of other clients, against a bare node:http server under the same flood',
    measured: `${ratio.toFixed(2)} times (${p99(ofGateway).toFixed(2)} against ${p99(ofControl).toFixed(2)} ms; ${median(quiet).toFixed(2)} ms without a flood; ${rates})`,
    must: `below 2 times at ${FLOOD_PER_SECOND} a second`,
    reached: ratio < 2 && rate(ofGateway) >= 0.95 * FLOOD_PER_SECOND,
  });
}

console.log(`creating ${BLOCKS} blocks on ${NODES} nodes`);
const chain = await startReplicatedChain(NODES);
try {
  await chain.grow(BLOCKS);
  const urls = chain.nodes.map(({ url }) => url);
  const [first = ''] = urls;
  const single = await floodgate('single', [first]);
  if (wanted('kept')) await keptAnswers(single);
  if (wanted('relayed')) await relayedAnswers(single, first);
  if (wanted('flood')) {
    const control = await floodControl();
    await withOwnCore(
      [single.pid, control.pid],
      chain.nodes.map(({ pid }) => pid),
      () => flood(single, control),
    );
  }
  if (wanted('killed')) await killedNode(await floodgate('three', urls), chain);
} finally {
  for (const server of running) await server.stop();
  await chain.stop();
  rmSync(folder, { recursive: true, force: true });
}

process.exitCode = lines.every(({ reached }) => reached) ? 0 : 1;
