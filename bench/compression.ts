/**
 * Compressed answers against the same ones uncompressed, in turns: one that is kept (the OpenRPC document), and batches, which are compressed
 * for each client while there is processor to spare. Under full load there is none: they must not be slower for being wanted compressed.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startSameChain } from '../test/gateway/support/sameChain.ts';
import { freePort } from '../test/support/freePort.ts';
import { type ServerProcess, startFloodgate } from './child.ts';
import { type LoadResult, load } from './load.ts';

const BLOCKS = 100;
const TURNS = 5;
const TURN_MS = Number(process.env['BENCH_TURN_MS'] ?? 2_000);
const CONNECTIONS = 8;
/** Enough calls for an answer of about 40 kB. */
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

/** Answers that were compressed so far, and that were wanted so and were not. */
async function counted(server: ServerProcess): Promise<Record<'kept' | 'live' | 'busy', number>> {
  const text = await (await fetch(`${server.url}/metrics`)).text();
  const of = (result: string): number =>
    Number(
      new RegExp(`^floodgate_gateway_compression_total{result="${result}"} (\\d+)`, 'm').exec(text)?.[1],
    );
  return { kept: of('kept'), live: of('live'), busy: of('busy') };
}

async function compare(what: string, server: ServerProcess, bodies: readonly Buffer[]): Promise<void> {
  const url = `${server.url}/v1/mainnet`;
  const plain: LoadResult[] = [];
  const coded: LoadResult[] = [];
  const before = await counted(server);
  for (let turn = 0; turn <= TURNS; turn++) {
    const options = { url, bodies, connections: CONNECTIONS, durationMs: TURN_MS };
    const without = await load(options);
    const withGzip = await load({ ...options, headers: { 'accept-encoding': 'gzip, deflate, br' } });
    // The first turn warms both up.
    if (turn > 0) [plain.push(without), coded.push(withGzip)];
  }
  const after = await counted(server);
  const bytes = (results: readonly LoadResult[]): string =>
    `${(median(results.map((r) => r.bytesPerAnswer)) / 1_000).toFixed(1)} kB`;
  const results = (['kept', 'live', 'busy'] as const).map((name) => `${name} ${after[name] - before[name]}`);
  console.log(
    `${what}: ${(rate(coded) / rate(plain)).toFixed(2)} (${rate(coded).toFixed(0)} against ${rate(plain).toFixed(0)} requests/s, ` +
      `${bytes(coded)} against ${bytes(plain)}; ${results.join(', ')})`,
  );
}

const folder = mkdtempSync(join(tmpdir(), 'floodgate-bench-compression-'));
const chain = await startSameChain(1);
try {
  await chain.grow(BLOCKS);
  const upstream = ['--upstream', chain.nodes[0]?.url ?? ''];
  const server = await startFloodgate(await freePort(), ['--data-dir', folder, ...upstream]);
  try {
    console.log('wanted compressed, against not');
    await compare('small answers', server, SMALL);
    await compare('a kept answer', server, DOCUMENTS);
    await compare('answers that are not kept, at full load', server, BATCHES);
  } finally {
    await server.stop();
  }
} finally {
  await chain.stop();
  rmSync(folder, { recursive: true, force: true });
}
