/**
 * The latency of a polite client next to greedy clients: `eth_chainId` over one connection, while other addresses send
 * batches, large bodies or slow bodies. Greedy clients run in a separate process of the lowest priority.
 *
 * `npm run bench greedyClient` runs all attacks; names of attacks as arguments select them. BENCH_PROGRAM is the path
 * of another build, to compare with. BENCH_DATA keeps the chain.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../test/support/freePort.ts';
import { type ServerProcess, startFloodgate, startScript } from './child.ts';
import { makeChain, openMadeChain } from './madeChain.ts';
import { addressAt } from './mainnetLike.ts';
import { progress } from './turns.ts';

const CHAIN = { first: 1024, last: 1223, tracesPerBlock: 300 };
const BATCH_CALLS = 100;
const LARGE_BYTES = 2 * 1024 * 1024 - 1024;
const SLOW_PIECE_BYTES = 16 * 1024;
const SLOW_INTERVAL_MS = 200;
const POLITE_ADDRESS = '127.0.0.250';
const POLITE_INTERVAL_MS = 10;
const DURATION_MS = Number(process.env['BENCH_TURN_MS'] ?? 8_000);
/** Time before the measurement, so that all connections of the attack are open. */
const WARM_UP_MS = 2_000;

const ATTACKS = ['batches', 'large', 'slow', 'half', 'idle'] as const;
type Attack = (typeof ATTACKS)[number];

const requestOf = (body: string, bytes = body.length): string =>
  `POST /v1/mainnet HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ${bytes}\r\n\r\n${body}`;
const callOf = (id: number, method: string, ...params: readonly unknown[]) => ({
  jsonrpc: '2.0',
  id,
  method,
  params,
});

const filterOf = (id: number) =>
  callOf(id, 'trace_filter', {
    fromBlock: CHAIN.first,
    toBlock: CHAIN.last,
    fromAddress: [addressAt(id % 20)],
    after: id,
    count: 20,
  });

interface Size {
  readonly addresses: number;
  /** Connections of each address. */
  readonly connections: number;
}

/** Opens the connections of an attack. Each sends its next request after a response, until the process is killed. */
function attack(kind: Attack, url: string, { addresses, connections }: Size): void {
  const batch = requestOf(JSON.stringify(Array.from({ length: BATCH_CALLS }, (_, id) => filterOf(id))));
  const large = requestOf(`{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}`.padEnd(LARGE_BYTES));
  const { hostname, port } = new URL(url);
  const open = (localAddress: string): void => {
    const socket = connect({ host: hostname, port: Number(port), localAddress });
    let wanted = 0;
    let text = '';
    const send = (): void => begin(kind, socket, kind === 'large' ? large : batch);
    socket.on('connect', send);
    socket.on('data', (data: Buffer) => {
      wanted -= data.length;
      if (wanted > 0) return;
      text += data.toString('latin1', 0, Math.min(data.length, 1024));
      const end = text.indexOf('\r\n\r\n');
      if (end < 0) return;
      wanted = Number(/content-length: *(\d+)/i.exec(text)?.[1] ?? 0) + end + 4 - data.length;
      text = '';
      if (wanted <= 0) send();
    });
    socket.on('error', () => undefined);
    socket.on('close', () => setTimeout(() => open(localAddress), 100));
  };
  for (let i = 0; i < addresses * connections; i++) open(`127.0.${1 + (i % addresses)}.1`);
}

function begin(kind: Attack, socket: Socket, request: string): void {
  if (kind === 'batches' || kind === 'large') socket.write(request);
  if (kind === 'half') socket.write(requestOf(' '.repeat(LARGE_BYTES - 1), LARGE_BYTES));
  if (kind !== 'slow') return;
  socket.write(requestOf('', LARGE_BYTES));
  const timer = setInterval(() => socket.write(' '.repeat(SLOW_PIECE_BYTES)), SLOW_INTERVAL_MS);
  socket.on('close', () => clearInterval(timer));
}

/** Opens the connection of the polite client. */
async function politeConnection(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), localAddress: POLITE_ADDRESS, noDelay: true });
  await once(socket, 'connect');
  return socket;
}

/** Sends `eth_chainId` at intervals and returns the sorted latencies. */
async function latencies(socket: Socket, durationMs: number): Promise<number[]> {
  const request = requestOf(JSON.stringify(callOf(1, 'eth_chainId')));
  const timesMs: number[] = [];
  let answered = (): void => undefined;
  const received = (): void => answered();
  socket.on('data', received);
  const endMs = performance.now() + durationMs;
  do {
    const startMs = performance.now();
    socket.write(request);
    await new Promise<void>((resolve, reject) => {
      answered = resolve;
      socket.once('close', () => reject(new Error('the connection of the polite client was closed')));
    });
    timesMs.push(performance.now() - startMs);
    socket.removeAllListeners('close');
    await pause(POLITE_INTERVAL_MS);
  } while (performance.now() < endMs);
  socket.off('data', received);
  return timesMs.sort((a, b) => a - b);
}

const quantile = (sorted: readonly number[], q: number): string =>
  (sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? Number.NaN).toFixed(1);

const rssMegabytes = ({ pid }: ServerProcess): number =>
  Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024);

async function measure(server: ServerProcess, kind: Attack, { addresses, connections }: Size): Promise<void> {
  const polite = await politeConnection(server.url);
  await latencies(polite, 0);
  const args = ['attack', kind, server.url, String(addresses), String(connections)];
  const own = fileURLToPath(import.meta.url);
  const child = spawn('nice', ['-n', '19', process.execPath, own, ...args], { stdio: 'inherit' });
  await pause(WARM_UP_MS);
  const sorted = await latencies(polite, DURATION_MS);
  polite.destroy();
  const figures = [0.5, 0.99, 1].map((q) => quantile(sorted, q)).join(' / ');
  const what = `${kind}, ${addresses} × ${connections} connections`;
  console.log(`${what.padEnd(40)} p50 / p99 / max ${figures} ms, ${rssMegabytes(server)} MB`);
  child.kill('SIGKILL');
  await pause(500);
}

async function main(named: readonly string[]): Promise<void> {
  const folder = process.env['BENCH_DATA'] ?? mkdtempSync(join(tmpdir(), 'floodgate-bench-'));
  mkdirSync(folder, { recursive: true });
  if (!existsSync(join(folder, 'chain.json'))) makeChain(folder, CHAIN, progress);
  openMadeChain(folder).close();
  const node = await startScript('blockNode.js', folder);
  const data = mkdtempSync(join(tmpdir(), 'floodgate-bench-data-'));
  const program = process.env['BENCH_PROGRAM'];
  const wanted = ATTACKS.filter((kind) => named.length === 0 || named.includes(kind));
  for (const kind of wanted) {
    const server = await startFloodgate(
      await freePort(),
      ['--data-dir', data, '--upstream', node.url, '--index-from', String(CHAIN.first)],
      program === undefined ? {} : { program },
    );
    await pause(WARM_UP_MS);
    if (kind === 'half') await measure(server, kind, { addresses: 1, connections: 250 });
    else if (kind === 'idle') await measure(server, kind, { addresses: 1, connections: 1 });
    else {
      await measure(server, kind, { addresses: 1, connections: 200 });
      await measure(server, kind, { addresses: 100, connections: 4 });
    }
    await server.stop();
  }
  await node.stop();
  rmSync(data, { recursive: true, force: true });
  if (process.env['BENCH_DATA'] === undefined) rmSync(folder, { recursive: true, force: true });
}

const [first, kind, url = '', addresses, connections] = process.argv.slice(2);
if (first === 'attack')
  attack(kind as Attack, url, { addresses: Number(addresses), connections: Number(connections) });
else await main(process.argv.slice(2));
