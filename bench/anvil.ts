/**
 * Compares trace_filter with anvil's on the same chain and calls, and with a bare node:http server that sends the
 * same number of bytes. 300 blocks of 100 transactions, one address per call, 200 results, random address and
 * `after`.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildTransferChain, connect, startAnvil } from '../test/support/anvil.ts';
import { freePort } from '../test/support/freePort.ts';
import { Random } from '../test/support/random.ts';
import { startFloodgate, startScript } from './support/child.ts';
import type { LoadResult } from './support/load.ts';
import { inTurns, row } from './support/turns.ts';

const BLOCKS = 300;
const TRANSACTIONS_PER_BLOCK = 100;
const COUNT = 200;
const DIFFERENT_REQUESTS = 2000;
const TURNS = 3;
const TURN_MS = 3000;
/** Value of `after` for the last comparison, which uses the busiest address. */
const DEEP_AFTER = 10_000;

const folder = mkdtempSync(join(tmpdir(), 'floodgate-bench-'));
const anvil = await startAnvil();
console.log(`creating ${BLOCKS} blocks of ${TRANSACTIONS_PER_BLOCK} transactions in anvil`);
const chain = await buildTransferChain({
  url: anvil.url,
  blocks: BLOCKS,
  transactionsPerBlock: TRANSACTIONS_PER_BLOCK,
  seed: 1,
});
const floodgate = await startFloodgate(await freePort(), [
  '--data-dir',
  folder,
  '--upstream',
  anvil.url,
  '--index-from',
  '0',
]);
const gateway = `${floodgate.url}/v1/mainnet`;

interface Side {
  readonly member: 'fromAddress' | 'toAddress';
  readonly address: string;
  readonly matches: number;
}

const range = { fromBlock: '0x1', toBlock: `0x${BLOCKS.toString(16)}` };
const node = connect(gateway);

async function matchesOf(member: Side['member'], address: string): Promise<number> {
  for (let matches = 0; ; matches += COUNT) {
    const filter = { ...range, [member]: [address], after: matches, count: COUNT };
    const found = await node.call<unknown[]>('trace_filter', filter);
    if (found.length < COUNT) return matches + found.length;
  }
}

const sides: Side[] = [];
for (const [member, addresses] of [
  ['fromAddress', chain.senders],
  ['toAddress', chain.recipients],
] as const)
  for (const address of addresses) {
    const matches = await matchesOf(member, address);
    if (matches >= COUNT) sides.push({ member, address, matches });
  }

const random = new Random(5);
const bodyOf = (id: number, { member, address }: Side, after: number): Buffer =>
  Buffer.from(
    JSON.stringify({
      jsonrpc: '2.0',
      id,
      method: 'trace_filter',
      params: [{ ...range, [member]: [address], after, count: COUNT }],
    }),
  );
const bodies = Array.from({ length: DIFFERENT_REQUESTS }, (_, id) => {
  const side = random.pick(sides);
  return bodyOf(id, side, random.below(side.matches - COUNT + 1));
});

async function answerBytes(body: Buffer): Promise<number> {
  const response = await fetch(gateway, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });
  return (await response.arrayBuffer()).byteLength;
}

const sizes: number[] = [];
for (const body of bodies) sizes.push(await answerBytes(body));
const sizesFile = join(folder, 'sizes.json');
writeFileSync(sizesFile, JSON.stringify(sizes));
const bare = await startScript('bareServer.js', sizesFile);

const speed = ({ requestsPerSecond, p50Ms, p99Ms }: LoadResult): string =>
  `${requestsPerSecond.toFixed(0)}/s, p50 ${p50Ms.toFixed(2)} ms, p99 ${p99Ms.toFixed(2)} ms`;

const [ours, anvils, bares] = await inTurns(
  [
    { url: gateway, bodies },
    { url: anvil.url, bodies },
    { url: bare.url, bodies },
  ],
  TURN_MS,
  TURNS,
);
if (ours && anvils && bares) {
  console.log(
    `floodgate ${speed(ours)}, ${(ours.bytesPerAnswer / 1000).toFixed(0)} kB per response, ${ours.refused} refused`,
  );
  console.log(`anvil     ${speed(anvils)}, ${anvils.refused} refused`);
  console.log(`bare      ${speed(bares)}\n`);
  row({
    name: "requests/s against anvil's trace_filter",
    must: 'at least 50',
    value: ours.requestsPerSecond / anvils.requestsPerSecond,
    note: '',
  });
  row({
    name: 'requests/s against bare node:http',
    must: 'at least 0.25',
    value: ours.requestsPerSecond / bares.requestsPerSecond,
    note: '',
  });
}

const busiest = sides.reduce((most, side) => (side.matches > most.matches ? side : most));
const [atStart, atEnd] = await inTurns(
  [
    { url: gateway, bodies: [bodyOf(0, busiest, 0)] },
    { url: gateway, bodies: [bodyOf(0, busiest, Math.min(DEEP_AFTER, busiest.matches - COUNT))] },
  ],
  TURN_MS / 2,
  TURNS,
);
if (atStart && atEnd)
  row({
    name: `p50 after ${DEEP_AFTER} matches against the start`,
    must: 'at most 1.5',
    value: atEnd.p50Ms / atStart.p50Ms,
    note: `${atEnd.p50Ms.toFixed(2)} ms, ${atStart.p50Ms.toFixed(2)} ms`,
  });

await bare.stop();
await floodgate.stop();
await anvil.stop();
rmSync(folder, { recursive: true, force: true });
