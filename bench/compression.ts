/**
 * Compressed answers against the same ones uncompressed, in turns: one that is kept (the OpenRPC document), and batches, which are compressed
 * for each client while there is processor to spare. Under full load there is none: they must not be slower for being wanted compressed.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startSameChain } from '../test/gateway/support/sameChain.ts';
import { freePort } from '../test/support/freePort.ts';
import { processorMs, type ServerProcess, startFloodgate } from './child.ts';
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
/** The least, as what else the machine does only adds to it. */
const processor = (turns: readonly Turn[]): number => Math.min(...turns.map((r) => r.processorMsPerAnswer));

/** Answers that were compressed so far, and that were wanted so and were not. */
async function counted(server: ServerProcess): Promise<Record<'kept' | 'live' | 'busy', number>> {
  const text = await (await fetch(`${server.url}/metrics`)).text();
  const of = (result: string): number =>
    Number(
      new RegExp(`^floodgate_gateway_compression_total{result="${result}"} (\\d+)`, 'm').exec(text)?.[1],
    );
  return { kept: of('kept'), live: of('live'), busy: of('busy') };
}

/** A turn of load, and what each of its answers took of the server's processor time. */
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
    // By turns the one and the other is first: who comes second finds the processors warm, and others' garbage.
    const first = await turn(i % 2 === 0 ? {} : wanted);
    const second = await turn(i % 2 === 0 ? wanted : {});
    // The first turn warms both up.
    if (i === 0) continue;
    plain.push(i % 2 === 0 ? first : second);
    coded.push(i % 2 === 0 ? second : first);
  }
  const after = await counted(server);
  const bytes = (results: readonly LoadResult[]): string =>
    `${(median(results.map((r) => r.bytesPerAnswer)) / 1_000).toFixed(1)} kB`;
  const results = (['kept', 'live', 'busy'] as const).map((name) => `${name} ${after[name] - before[name]}`);
  console.log(
    `${what}: ${(rate(coded) / rate(plain)).toFixed(2)} (${rate(coded).toFixed(0)} against ${rate(plain).toFixed(0)} requests/s, ` +
      `${bytes(coded)} against ${bytes(plain)}; processor time of an answer ${(processor(coded) / processor(plain)).toFixed(2)} times; ` +
      `${results.join(', ')})`,
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
