/**
 * Methods of explorers, on a chain of anvil that is indexed from the start: pages of an address with one transaction
 * in many blocks, and call trees of the node's tracer. Both are compared with bare HTTP responses of the same size, in
 * alternation, and call trees also with cached blocks, for each byte. BENCH_BLOCKS sets the blocks between two
 * transactions of the address.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildTransferChain, connect, startAnvil } from '../test/support/anvil.ts';
import { freePort } from '../test/support/freePort.ts';
import { until } from '../test/support/until.ts';
import { type ServerProcess, startFloodgate, startScript } from './support/child.ts';
import { inTurns, row } from './support/turns.ts';

const GAP_BLOCKS = Number(process.env['BENCH_BLOCKS'] ?? 400);
const TURN_MS = Number(process.env['BENCH_TURN_MS'] ?? 2000);
const TURNS = 3;
const PAGE = 25;
const ADDRESS = `0x${'5a'.repeat(20)}`;
/** Blocks of transfers whose call trees and headers are read. */
const FULL_BLOCKS = 20;
const TRANSACTIONS = 200;
/** anvil's final block is 64 blocks below its head. */
const BLOCKS_TO_FINAL = 70;

const folder = mkdtempSync(join(tmpdir(), 'floodgate-bench-explorer-'));
const anvil = await startAnvil();
const running: { stop(): Promise<unknown> }[] = [anvil];

/** The bare server reads the size of a response from the id. */
const bodyOf = (id: number, method: string, ...params: readonly unknown[]): Buffer =>
  Buffer.from(JSON.stringify({ jsonrpc: '2.0', id, method, params }));

async function sizeOf(url: string, body: Buffer): Promise<number> {
  const headers = { 'content-type': 'application/json' };
  const text = await (await fetch(url, { method: 'POST', headers, body })).text();
  const { error } = JSON.parse(text) as { error?: { message: string } };
  if (error !== undefined) throw new Error(`${body}: ${error.message}`);
  return Buffer.byteLength(text);
}

/** Returns the rate of these requests, its quotient by the rate of a bare server, and the mean size of a response. */
async function againstBare(
  server: ServerProcess,
  name: string,
  bodies: readonly Buffer[],
): Promise<{ readonly ratio: number; readonly perSecond: number; readonly bytes: number }> {
  const url = `${server.url}/v1/mainnet`;
  const sizes: number[] = [];
  for (const body of bodies) sizes.push(await sizeOf(url, body));
  const file = join(folder, `${name}.json`);
  writeFileSync(file, JSON.stringify(sizes));
  const bare = await startScript('bareServer.js', file);
  running.push(bare);
  const [ours, theirs] = await inTurns(
    [
      { url, bodies },
      { url: bare.url, bodies },
    ],
    TURN_MS,
    TURNS,
  );
  if (ours === undefined || theirs === undefined) throw new Error('no measurement');
  const bytes = sizes.reduce((sum, size) => sum + size, 0) / sizes.length;
  return {
    ratio: ours.requestsPerSecond / theirs.requestsPerSecond,
    perSecond: ours.requestsPerSecond,
    bytes,
  };
}

try {
  const node = connect(anvil.url);
  const [from] = await node.call<string[]>('eth_accounts');
  for (let i = 0; i < PAGE; i++) {
    await node.call('eth_sendTransaction', { from, to: ADDRESS, value: '0x1' });
    await node.call('evm_mine');
    await node.call('anvil_mine', `0x${(GAP_BLOCKS - 1).toString(16)}`);
  }
  const full = await buildTransferChain({
    url: anvil.url,
    blocks: FULL_BLOCKS,
    transactionsPerBlock: TRANSACTIONS,
    seed: 1,
  });
  await node.call('anvil_mine', `0x${BLOCKS_TO_FINAL.toString(16)}`);
  const server = await startFloodgate(await freePort(), [
    '--data-dir',
    join(folder, 'data'),
    '--upstream',
    anvil.url,
    '--index-from',
    '0',
    '--gateway-debug-tracers',
    'callTracer',
  ]);
  running.push(server);

  const isIndexed = (): Promise<boolean> =>
    sizeOf(`${server.url}/v1/mainnet`, bodyOf(0, 'ots_searchTransactionsBefore', ADDRESS, 0, PAGE)).then(
      () => true,
      () => false,
    );
  await until('a complete index', isIndexed);

  const page = await againstBare(server, 'page', [
    bodyOf(0, 'ots_searchTransactionsBefore', ADDRESS, 0, PAGE),
  ]);
  row({
    name: `page of ${PAGE}, one match per ${GAP_BLOCKS} blocks`,
    value: page.ratio,
    must: 'at least 0.2',
    note: `${page.perSecond.toFixed(0)} pages/s of ${page.bytes} bytes, against bare HTTP`,
  });

  const numbers = Array.from({ length: FULL_BLOCKS }, (_, i) => `0x${(full.fromBlock + i).toString(16)}`);
  const blocks = await againstBare(
    server,
    'blocks',
    numbers.map((number, id) => bodyOf(id, 'eth_getBlockByNumber', number, true)),
  );
  const trees = await againstBare(
    server,
    'trees',
    numbers.map((number, id) => bodyOf(id, 'debug_traceBlockByNumber', number, { tracer: 'callTracer' })),
  );
  const perByte = (blocks.perSecond * blocks.bytes) / (trees.perSecond * trees.bytes);
  row({
    name: 'time per byte of a cached call tree',
    value: perByte,
    must: 'at most 2',
    note: `against cached blocks; ${trees.bytes} and ${blocks.bytes} bytes; ${trees.ratio.toFixed(2)} and ${blocks.ratio.toFixed(2)} of bare HTTP`,
  });
} finally {
  for (const one of running.reverse()) await one.stop();
  rmSync(folder, { recursive: true, force: true });
}
