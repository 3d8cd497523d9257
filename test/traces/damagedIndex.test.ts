import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { open } from 'lmdb';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openTraceStore } from '../../src/ethereum/store/lmdb/traces/index.ts';
import { call } from '../gateway/support/send.ts';
import { floodgate as run } from '../rules/support/command.ts';
import { type Anvil, connect, createTraffic, startAnvil } from '../support/anvil.ts';
import { type FloodgateProcess, startFloodgateProcess } from '../support/startFloodgate.ts';
import { readChain } from './support/nodeChain.ts';

const LAST = 12;
const root = mkdtempSync(join(tmpdir(), 'floodgate-damaged-'));
const [dataDir, backup, restored] = ['data', 'backup', 'restored'].map((name) => join(root, name)) as [
  string,
  string,
  string,
];
let anvil: Anvil;
let floodgate: FloodgateProcess | undefined;

beforeAll(async () => {
  anvil = await startAnvil();
  await (await createTraffic({ url: anvil.url, seed: 5 })).run({ steps: LAST });
  await connect(anvil.url).call('anvil_mine', '0x50');
});
afterAll(async () => {
  await floodgate?.stop();
  await anvil?.stop();
  rmSync(root, { recursive: true, force: true });
});

/** Merges the postings of all blocks to disk. Otherwise the server reads all chunks when it starts. */
async function mergePostings(): Promise<void> {
  const store = openTraceStore(join(dataDir, 'traces'), { maxRecentPositions: 1 });
  await store.apply({ blocks: [] });
  await store.close();
}

/** Changes one bit of the first chunk of the block with the most traces. Returns the number of the block. */
async function damageChunk(traces: readonly { readonly blockNumber: number }[]): Promise<number> {
  const counts = Array.from(
    { length: LAST + 1 },
    (_, number) => traces.filter(({ blockNumber }) => blockNumber === number).length,
  );
  const number = counts.indexOf(Math.max(...counts));
  const key = Buffer.from([0, 0, 0, number, 0, 0, 0, 0]);
  const options = { keyEncoding: 'binary', encoding: 'binary' } as const;
  const store = open<Buffer, Buffer>({ path: join(dataDir, 'traces'), maxDbs: 20, ...options });
  const chunks = store.openDB<Buffer, Buffer>({ name: 'chunks-0', ...options });
  const record = Buffer.from(chunks.get(key) ?? '');
  record[record.length >> 1] = record.readUInt8(record.length >> 1) ^ 4;
  await chunks.put(key, record);
  await store.close();
  return number;
}

it('a server serves a restored index at once, and a damaged block is an error that verify reports', async () => {
  const { traces } = await readChain(anvil.url);
  const range = ['--from', '0', '--to', String(LAST)];
  const indexed = await run(['index', ...range, '--upstream', anvil.url, '--data-dir', dataDir]);
  expect(indexed.status, indexed.stderr).toBe(0);
  await mergePostings();
  const damaged = await damageChunk(traces);
  expect(await run(['backup', backup, '--data-dir', dataDir])).toMatchObject({ status: 0 });
  const copied = await run(['restore', backup, '--data-dir', restored]);
  expect(copied).toMatchObject({
    status: 0,
    stdout: `Restored traces into ${restored}.
A server can use it now. To check every block, also while the server runs: floodgate verify --data-dir ${restored}
`,
  });

  const start = () =>
    startFloodgateProcess({ upstream: anvil.url, dataDir: restored, args: ['--index-from', '0'] });
  floodgate = await start();
  for (const isLastStart of [false, true]) {
    const url = `${floodgate.url}/v1/mainnet`;
    for (let number = 0; number <= LAST; number++) {
      const { result, error } = (await call(url, 'trace_block', `0x${number.toString(16)}`)).json;
      if (number === damaged) expect(error).toMatchObject({ code: -32001, data: { reason: 'unproven' } });
      else expect(result).toEqual(traces.filter(({ blockNumber }) => blockNumber === number));
    }
    const verified = await run(['verify', '--data-dir', restored]);
    expect(verified.status).toBe(1);
    expect(verified.stdout).toContain(
      `traces: damaged: the index is damaged: record ${damaged} of chunks-0 does not match its checksum\n`,
    );
    expect(existsSync(join(restored, 'traces', 'verified'))).toBe(false);
    if (isLastStart) break;
    await floodgate.kill();
    floodgate = await start();
  }
});
