/**
 * Compares requests that accept compression with the same requests that do not, in alternation: small responses, the
 * OpenRPC document and batches. Under full load no processor time is free, so the rates must be equal.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startReplicatedChain } from '../test/gateway/support/replicatedChain.ts';
import { freePort } from '../test/support/freePort.ts';
import { processorMs, type ServerProcess, startFloodgate } from './support/child.ts';
import { type LoadResult, load } from './support/load.ts';

const BLOCKS = 100;
const TURNS = 5;
const TURN_MS = Number(process.env['BENCH_TURN_MS'] ?? 2_000);
const CONNECTIONS = 8;
/** Enough calls for a response of about 40 kB. */
const CALLS = 30;

const bodyOf = (id: number, method: string, ...params: readonly unknown[]): object => ({
  jsonrpc: '2.0',
  id,
  method,
  params,
});
const bytesOf = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));

const DOCUMENTS = Array.from({ length: 50 }, (_, id) => bytesOf(bodyOf(id, 'rpc.discover')));
const SMALL = Array.from({ length: 50 }, (_, id) => bytesOf(bodyOf(id, 'eth_chainId')));
const BATCHES = Array.from({ length: 20 }, (_, i) =>
  bytesOf(
    Array.from({ length: CALLS }, (_, k) =>
      bodyOf(k, 'eth_getBlockByNumber', `0x${((i + k) % 30).toString(16)}`, true),
    ),
  ),
);

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
const rate = (results: readonly LoadResult[]): number => median(results.map((r) => r.requestsPerSecond));
/** The minimum, because other work of the machine only increases the time. */
const processor = (turns: readonly Turn[]): number => Math.min(...turns.map((r) => r.processorMsPerAnswer));

/** Returns the numbers of compressed and uncompressed responses from the metrics. */
async function counted(server: ServerProcess): Promise<Record<'compressed' | 'busy', number>> {
  const text = await (await fetch(`${server.url}/metrics`)).text();
  const of = (result: string): number =>
    Number(
      new RegExp(`^floodgate_gateway_compression_total{result="${result}"} (\\d+)`, 'm').exec(text)?.[1],
    );
  return { compressed: of('compressed'), busy: of('busy') };
}

/** Result of one measurement, with the server's processor time per response. */
interface Turn extends LoadResult {
  readonly processorMsPerAnswer: number;
}

async function compare(what: string, server: ServerProcess, bodies: readonly Buffer[]): Promise<void> {
  const options = {
    url: `${server.url}/v1/mainnet`,
    bodies,
    connections: CONNECTIONS,
    durationMs: TURN_MS,
  };
  const turn = async (headers: Readonly<Record<string, string>>): Promise<Turn> => {
    const started = processorMs(server.pid);
    const result = await load({ ...options, headers });
    return { ...result, processorMsPerAnswer: (processorMs(server.pid) - started) / result.requests };
  };
  const wanted = { 'accept-encoding': 'gzip, deflate, br' };
  const plain: Turn[] = [];
  const coded: Turn[] = [];
  const before = await counted(server);
  for (let i = 0; i <= TURNS; i++) {
    // The order alternates, because the second measurement has warm caches and garbage of the first.
    const first = await turn(i % 2 === 0 ? {} : wanted);
    const second = await turn(i % 2 === 0 ? wanted : {});
    // The first round is a warm-up.
    if (i === 0) continue;
    plain.push(i % 2 === 0 ? first : second);
    coded.push(i % 2 === 0 ? second : first);
  }
  const after = await counted(server);
  const bytes = (results: readonly LoadResult[]): string =>
    `${(median(results.map((r) => r.bytesPerAnswer)) / 1_000).toFixed(1)} kB`;
  const results = (['compressed', 'busy'] as const).map((name) => `${name} ${after[name] - before[name]}`);
  console.log(
    `${what}: ${(rate(coded) / rate(plain)).toFixed(2)} (${rate(coded).toFixed(0)} against ${rate(plain).toFixed(0)} requests/s, ` +
      `${bytes(coded)} against ${bytes(plain)}; processor time per response ${(processor(coded) / processor(plain)).toFixed(2)} times; ` +
      `${results.join(', ')})`,
  );
}

const folder = mkdtempSync(join(tmpdir(), 'floodgate-bench-compression-'));
const chain = await startReplicatedChain(1);
try {
  await chain.grow(BLOCKS);
  const upstream = ['--upstream', chain.nodes[0]?.url ?? ''];
  const server = await startFloodgate(await freePort(), ['--data-dir', folder, ...upstream]);
  try {
    console.log('with compression, against without');
    await compare('small responses', server, SMALL);
    await compare('the OpenRPC document', server, DOCUMENTS);
    await compare('batches', server, BATCHES);
  } finally {
    await server.stop();
  }
} finally {
  await chain.stop();
  rmSync(folder, { recursive: true, force: true });
}
