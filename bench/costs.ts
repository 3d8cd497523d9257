/**
 * Cost of one request: the highest processor time found for a request of at most 4 KiB, by method, and for a batch of
 * 100 of them. `npm run bench costs` prints the table of docs/reference/gateway.md. The figures depend on the machine; they
 * compare methods with each other.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RELAYED_ROWS } from '../src/ethereum/gateway/index.ts';
import { startReplicatedChain } from '../test/gateway/support/replicatedChain.ts';
import { connect } from '../test/support/anvil.ts';
import { freePort } from '../test/support/freePort.ts';
import { processorMs, type ServerProcess, startFloodgate, startScript } from './support/child.ts';
import { load } from './support/load.ts';
import { makeChain } from './support/madeChain.ts';
import { addressAt } from './support/mainnetLike.ts';
import { progress } from './support/turns.ts';

const BLOCKS = Number(process.env['BENCH_BLOCKS'] ?? 800);
const TRACES_PER_BLOCK = 1_000;
const FIRST_BLOCK = 1_024;
const LAST_BLOCK = FIRST_BLOCK + BLOCKS - 1;
const TURN_MS = Number(process.env['BENCH_TURN_MS'] ?? 1_500);
/**
 * Few connections, so that no request is rejected for unsent bytes of the others: a batch has up to 15 MB of
 * responses.
 */
const CONNECTIONS = 2;
const BATCH = 100;
/** Number of addresses that fit into a small request; the busiest of the chain are used. */
const ADDRESSES = 40;

const ADDRESS = `0x${'00'.repeat(20)}`;
const hex = (value: number): string => `0x${value.toString(16)}`;

/** Requests of one kind; the parameters differ, so that not all of them hit the same cache entry. */
interface Row {
  readonly name: string;
  readonly method: string;
  readonly params: (i: number) => readonly unknown[];
}

async function measure(server: ServerProcess, row: Row): Promise<void> {
  const single = await microseconds(server, (i) => callOf(row, i));
  const batch = await microseconds(server, (i) =>
    Array.from({ length: BATCH }, (_, k) => callOf(row, i * BATCH + k)),
  );
  console.log(`| \`${row.method}\` | ${row.name} | ${ms(single)} | ${ms(batch)} |`);
}

const callOf = ({ method, params }: Row, i: number): object => ({
  jsonrpc: '2.0',
  id: i,
  method,
  params: params(i),
});
const ms = (microseconds: number): string => String(Number((microseconds / 1_000).toPrecision(2)));

/** Returns the server's processor time per request, in microseconds. */
async function microseconds(server: ServerProcess, bodyOf: (i: number) => unknown): Promise<number> {
  const bodies = Array.from({ length: 64 }, (_, i) => Buffer.from(JSON.stringify(bodyOf(i))));
  const options = { url: `${server.url}/v1/mainnet`, bodies, connections: CONNECTIONS };
  await load({ ...options, durationMs: TURN_MS / 5 });
  const before = processorMs(server.pid);
  const { requests, refused } = await load({ ...options, durationMs: TURN_MS });
  if (refused > 0) throw new Error(`${refused} requests were refused`);
  return (1_000 * (processorMs(server.pid) - before)) / requests;
}

const busiest = Array.from({ length: ADDRESSES }, (_, rank) => addressAt(rank));
const range = { fromBlock: hex(FIRST_BLOCK), toBlock: hex(LAST_BLOCK) };
const filter = (name: string, params: object): Row => ({
  name,
  method: 'trace_filter',
  params: () => [{ ...range, ...params }],
});

async function indexed(folder: string): Promise<void> {
  makeChain(folder, { first: FIRST_BLOCK, last: LAST_BLOCK, tracesPerBlock: TRACES_PER_BLOCK }, progress);
  const node = await startScript('blockNode.js', folder);
  const flags = [
    '--data-dir',
    join(folder, 'server'),
    '--upstream',
    node.url,
    '--index-from',
    String(FIRST_BLOCK),
  ];
  const server = await startFloodgate(await freePort(), flags);
  try {
    const url = connect(`${server.url}/v1/mainnet`);
    const traces = await url.call<{ transactionHash: string; traceAddress: number[] }[]>(
      'trace_block',
      hex(LAST_BLOCK),
    );
    const deepest = traces.reduce((a, b) => (b.traceAddress.length > a.traceAddress.length ? b : a));
    const rows: Row[] = [
      filter(`${BLOCKS} blocks, no addresses, the last 200 traces`, {
        after: BLOCKS * TRACES_PER_BLOCK - 200,
      }),
      filter(`${BLOCKS} blocks, ${ADDRESSES} addresses on each side, past the last match`, {
        fromAddress: busiest,
        toAddress: busiest,
        after: BLOCKS * TRACES_PER_BLOCK,
      }),
      filter(`the same with \`mode: union\``, {
        fromAddress: busiest,
        toAddress: busiest,
        mode: 'union',
        after: BLOCKS * TRACES_PER_BLOCK,
      }),
      {
        name: `a block of ${TRACES_PER_BLOCK} traces`,
        method: 'trace_block',
        params: (i) => [hex(FIRST_BLOCK + (i % BLOCKS))],
      },
      { name: 'its deepest', method: 'trace_transaction', params: () => [deepest.transactionHash] },
      {
        name: 'its deepest frame',
        method: 'trace_get',
        params: () => [deepest.transactionHash, deepest.traceAddress.map(hex)],
      },
    ];
    for (const row of rows) await measure(server, row);
  } finally {
    await server.stop();
    await node.stop();
  }
}

async function relayed(folder: string): Promise<void> {
  const chain = await startReplicatedChain(1);
  const url = chain.nodes[0]?.url ?? '';
  await chain.grow(50);
  const server = await startFloodgate(await freePort(), [
    '--data-dir',
    join(folder, 'relay'),
    '--upstream',
    url,
  ]);
  try {
    const { hash, transactions } = await connect(url).call<{ hash: string; transactions: string[] }>(
      'eth_getBlockByNumber',
      '0x10',
      false,
    );
    const call = (i: number): object => ({ to: ADDRESS, data: hex(2 ** 44 + i) });
    const word = `0x${'00'.repeat(32)}`;
    /**
     * Parameters that differ if the response would be cached; otherwise the parameters of the example test of the
     * method table.
     */
    const params: Readonly<Record<string, (i: number) => readonly unknown[]>> = {
      web3_sha3: (i) => [`0x${'ab'.repeat(1_800)}${(i % 256).toString(16).padStart(2, '0')}`],
      eth_feeHistory: () => ['0xa', 'latest', [10, 50.5]],
      eth_getBalance: (i) => [`0x${(2 ** 45 + i).toString(16).padStart(40, '0')}`, 'latest'],
      eth_getStorageAt: (i) => [ADDRESS, hex(i), 'latest'],
      eth_getTransactionCount: () => [ADDRESS, 'pending'],
      eth_getCode: () => [ADDRESS, 'latest'],
      eth_sendRawTransaction: () => ['0x1234'],
      eth_call: (i) => [call(i), 'latest'],
      eth_estimateGas: (i) => [call(i)],
      eth_getLogs: () => [{ fromBlock: '0x0', toBlock: 'latest' }],
      eth_getProof: () => [ADDRESS, [word], 'latest'],
      eth_getBlockByHash: () => [hash, true],
      eth_getBlockByNumber: () => ['latest', true],
      eth_getTransactionByHash: () => [transactions[0]],
      eth_getTransactionReceipt: () => [transactions[0]],
    };
    const given = (name: string): readonly unknown[] => {
      const index = name.includes('AndIndex') ? ['0x0'] : [];
      if (name.includes('ByBlockHash') || name.endsWith('ByHash')) return [hash, ...index];
      return name.includes('ByBlockNumber') || name.endsWith('ByNumber') ? ['0x10', ...index] : [];
    };
    for (const { name } of RELAYED_ROWS)
      await measure(server, { name: 'relayed', method: name, params: params[name] ?? (() => given(name)) });
    await measure(server, { name: 'not served', method: 'eth_accounts', params: () => [] });
  } finally {
    await server.stop();
    await chain.stop();
  }
}

const folder = mkdtempSync(join(tmpdir(), 'floodgate-bench-costs-'));
try {
  console.log('| method | request | one, ms | batch of 100, ms |\n| --- | --- | --- | --- |');
  await indexed(folder);
  await relayed(folder);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
