import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTraceReader, openTraceStore } from '../../src/ethereum/store/lmdb/traces/index.ts';
import { parseHeader, parseTraceBlock } from '../../src/ethereum/traces/convert/index.ts';
import { type Hash, indexBlock, indexUnavailable, type Trace } from '../../src/ethereum/traces/index.ts';
import { floodgate as run } from '../rules/support/command.ts';
import { type Anvil, connect, createTraffic, startAnvil } from '../support/anvil.ts';
import { cryoBlocks, cryoColumns } from '../support/cryoFiles.ts';
import { PROGRAM } from '../support/program.ts';
import { Random } from '../support/random.ts';
import { spawnGuarded } from '../support/spawn.ts';
import { startFloodgate } from '../support/startFloodgate.ts';
import { type SyntheticBlock, syntheticAddresses, syntheticBlock } from '../support/syntheticChain.ts';
import { until } from '../support/until.ts';

const FORMATS = ['ndjson', 'csv', 'parquet'] as const;
const CHAIN = { chainId: 31_337, genesisHash: `0x${'ab'.repeat(32)}` as Hash };
const FIRST = 1_000;
const BLOCKS = 200;
/** Errors that CSV must quote, and that spreadsheets would run. */
const ERRORS = ['say "no", or\\yes', '=1+1', "'=1+1", "''-1", 'Reverted'];

const root = mkdtempSync(join(tmpdir(), 'floodgate-import-'));
let folders = 0;
const folder = (): string => join(root, `data${folders++}`);
afterAll(() => rmSync(root, { recursive: true, force: true }));

function chainOf(count: number, seed: number, maxTransactions = 4): SyntheticBlock[] {
  const random = new Random(seed);
  const shape = { addresses: syntheticAddresses(30), maxTransactions, maxFrames: 6 };
  const blocks: SyntheticBlock[] = [];
  for (let number = FIRST; number < FIRST + count; number++) {
    const block = syntheticBlock(random, shape, { number, parentHash: blocks.at(-1)?.header.hash });
    const traces = block.traces.map(
      (trace): Trace =>
        trace.type === 'call' && trace.error !== undefined && random.chance(0.7)
          ? { ...trace, error: random.pick(ERRORS), result: null }
          : trace,
    );
    blocks.push({ ...block, traces });
  }
  return blocks;
}

async function fill(dataDir: string, blocks: readonly SyntheticBlock[], unavailable?: number): Promise<void> {
  const store = openTraceStore(join(dataDir, 'traces'));
  await store.bindChain(CHAIN);
  for (let first = 0; first < blocks.length; first += 64)
    await store.apply({
      blocks: blocks
        .slice(first, first + 64)
        .map(({ header, traces }) =>
          header.number === unavailable ? indexUnavailable(header, 'timeout') : indexBlock(header, traces),
        ),
    });
  await store.close();
}

interface Files {
  readonly traces: string;
  readonly headers: string;
}

async function exportTo(dataDir: string, format: string, blocks = BLOCKS): Promise<Files> {
  const [traces, headers] = [folder(), folder()];
  const range = ['--from', String(FIRST), '--to', String(FIRST + blocks - 1), '--skip-unavailable'];
  const files = ['--out', traces, '--headers', headers, '--format', format, '--data-dir', dataDir];
  expect(await run(['export', ...range, ...files])).toMatchObject({ status: 0, stdout: '' });
  return { traces, headers };
}

const importArgs = ({ traces, headers }: Files, dataDir: string): string[] => [
  'import',
  '--traces',
  traces,
  '--headers',
  headers,
  '--data-dir',
  dataDir,
];

/** Returns all blocks of an index with the hash of their traces, so that a failure has few lines. */
async function contentsOf(dataDir: string) {
  const store = openTraceReader(join(dataDir, 'traces'));
  const blocks = [];
  const head = await store.head();
  for (let number = 0; number <= (head?.number ?? -1); number++) {
    const block = await store.block(number);
    if (block !== undefined)
      blocks.push({ block, traces: digestOf(String(await store.blockTraces(number, 1e9))) });
  }
  const all = { chain: await store.chain(), head, blocks };
  await store.close();
  return all;
}

const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex');

test.each(FORMATS)('an export as %s, its import and another export give the same files', async (format) => {
  const [one, other] = [folder(), folder()];
  await fill(one, chainOf(BLOCKS, 3), FIRST + 70);
  const files = await exportTo(one, format);
  const imported = await run(importArgs(files, other));
  expect(imported).toMatchObject({
    status: 0,
    stdout: expect.stringMatching(/^Indexed 200 blocks with \d+ traces/),
  });
  expect(imported.stderr).toContain(`indexing blocks 1000 to 1199: 200 of 200 are missing`);
  expect(await contentsOf(other)).toEqual(await contentsOf(one));
  const again = await exportTo(other, format);
  expect(readFileSync(again.traces).equals(readFileSync(files.traces))).toBe(true);
  expect(readFileSync(again.headers).equals(readFileSync(files.headers))).toBe(true);
});

test('an export to a full disk names the incomplete file', async () => {
  const dataDir = folder();
  await fill(dataDir, chainOf(10, 3));
  const range = ['--from', String(FIRST), '--to', String(FIRST + 9), '--data-dir', dataDir];
  for (const files of [
    ['--out', '/dev/full'],
    ['--out', folder(), '--headers', '/dev/full'],
  ])
    expect(await run(['export', ...range, ...files])).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/^floodgate: \/dev\/full is incomplete: ENOSPC: .*\n$/),
    });
});

test('an import that is killed several times and run again creates the same index as one run', async () => {
  const [whole, killed, blocks] = [folder(), folder(), 1_200];
  await fill(whole, chainOf(blocks, 5, 12));
  const files = await exportTo(whole, 'csv', blocks);
  for (const share of [0.01, 0.5]) {
    const child = spawnGuarded(process.execPath, [PROGRAM, ...importArgs(files, killed)]);
    for (const stream of [child.stdout, child.stderr]) stream.resume();
    const ended = once(child, 'exit');
    await until('blocks to be imported', async () => {
      if (child.exitCode !== null) return true;
      if (!existsSync(join(killed, 'traces', 'store.json'))) return false;
      try {
        const reader = openTraceReader(join(killed, 'traces'));
        const head = (await reader.head())?.number ?? 0;
        await reader.close();
        return head >= FIRST + blocks * share;
      } catch {
        return false; // the index is being created
      }
    });
    child.kill('SIGKILL');
    await ended;
  }
  expect(await run(importArgs(files, killed))).toMatchObject({ status: 0 });
  expect(await contentsOf(killed)).toEqual(await contentsOf(whole));
  expect(await run(['verify', '--data-dir', killed])).toMatchObject({ status: 0 });
  expect(await run(importArgs(files, killed))).toMatchObject({
    status: 0,
    stdout: expect.stringMatching(/^Indexed 0 /),
  });
});

test('import rejects a data folder in use, damaged files, and blocks of another chain, and keeps what it has', async () => {
  const [one, other] = [folder(), folder()];
  await fill(one, chainOf(BLOCKS, 3));
  const files = await exportTo(one, 'ndjson');
  const text = readFileSync(files.traces, 'utf8');
  const line = text.slice(0, text.length / 2).split('\n').length + 3;
  const lines = text.split('\n');
  const damaged = lines.with(
    line - 1,
    lines[line - 1]?.replace(/"blockHash":"0x../, '"blockHash":"0xzz') ?? '',
  );
  const bad = folder();
  writeFileSync(bad, damaged.join('\n'));
  const failed = await run(importArgs({ ...files, traces: bad }, other));
  expect(failed).toMatchObject({ status: 1, stdout: '' });
  expect(failed.stderr).toContain(`${bad}, row ${line}: block `);
  expect(failed.stderr).toMatch(/blockHash must be 32 bytes as 0x and 64 hex digits, it is "0xzz/);
  expect(failed.stderr).not.toMatch(/\n {4}at /);
  expect(await run(importArgs(files, other))).toMatchObject({ status: 0 });
  expect(await contentsOf(other)).toEqual(await contentsOf(one));

  const foreign = folder();
  await fill(foreign, chainOf(BLOCKS, 4));
  const hash = async (dataDir: string) => (await contentsOf(dataDir)).blocks[0]?.block.hash;
  const conflict = await run(importArgs(files, foreign));
  expect(conflict).toMatchObject({ status: 1 });
  expect(conflict.stderr).toContain(
    `block 1000 is ${await hash(one)} in the files, but ${await hash(foreign)} in the index`,
  );
  const missing = await run(importArgs({ ...files, traces: join(root, 'none') }, folder()));
  expect(missing.status).toBe(1);
  expect(missing.stderr).toMatch(/^floodgate: ENOENT: no such file or directory, open '.+none'\n$/);
});

test('index --from-data-dir adds the blocks that an index lacks, and names both hashes if a block differs', async () => {
  const [one, other, all] = [folder(), folder(), folder()];
  const blocks = chainOf(BLOCKS, 3);
  await fill(all, blocks, FIRST + 70);
  await fill(one, blocks.slice(0, 120), FIRST + 70);
  await fill(other, [...blocks.slice(100, 140), ...blocks.slice(150)]);
  const merge = (dataDir: string, from: string) =>
    run(['index', '--data-dir', dataDir, '--from-data-dir', from]);
  expect(await merge(one, other)).toMatchObject({
    status: 0,
    stdout: expect.stringMatching(/^Indexed 70 blocks with \d+ traces/),
  });
  const wanted = await contentsOf(all);
  expect((await contentsOf(one)).blocks).toEqual(
    wanted.blocks.filter(({ block: { number } }) => number < 1140 || number >= 1150),
  );
  expect(await merge(one, all)).toMatchObject({
    status: 0,
    stdout: expect.stringMatching(/^Indexed 10 blocks/),
  });
  expect(await contentsOf(one)).toEqual(wanted);
  expect(await run(['verify', '--data-dir', one])).toMatchObject({ status: 0 });

  const foreign = folder();
  await fill(foreign, chainOf(BLOCKS, 4));
  const conflict = await merge(one, foreign);
  const theirs = (await contentsOf(foreign)).blocks[0]?.block.hash;
  expect(conflict).toMatchObject({ status: 1 });
  expect(conflict.stderr).toContain(
    `block 1000 is ${wanted.blocks[0]?.block.hash} in the index, but ${theirs} in`,
  );
  expect(await merge(one, one)).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('are the same folder'),
  });
  expect(await merge(one, folder())).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('no index of mainnet in'),
  });
});

describe('import with a node', () => {
  let anvil: Anvil;
  let head = 0;
  beforeAll(async () => {
    anvil = await startAnvil();
    const traffic = await createTraffic({ url: anvil.url, seed: 8 });
    head = (await traffic.run({ steps: 30 })).at(-1)?.number ?? 0;
  });
  afterAll(() => anvil.stop());

  test('files of cryo give the same index as floodgate index, and need the node for creations', async () => {
    const node = connect(anvil.url);
    const blocks: SyntheticBlock[] = [];
    for (let number = 1; number <= head; number++) {
      const hex = `0x${number.toString(16)}`;
      const header = parseHeader(await node.call('eth_getBlockByNumber', hex, false));
      blocks.push({ header, traces: parseTraceBlock(await node.call('trace_block', hex)) });
    }
    const [traces, headers, uncounted] = [folder(), folder(), folder()];
    writeFileSync(
      traces,
      new Uint8Array(parquetWriteBuffer({ columnData: cryoColumns(blocks), rowGroupSize: 50 })),
    );
    writeFileSync(headers, new Uint8Array(parquetWriteBuffer({ columnData: cryoBlocks(blocks, true) })));
    writeFileSync(uncounted, new Uint8Array(parquetWriteBuffer({ columnData: cryoBlocks(blocks, false) })));
    const [dataDir, indexed] = [folder(), folder()];
    const alone = await run(importArgs({ traces, headers }, dataDir));
    expect(alone).toMatchObject({ status: 1, stderr: expect.stringContaining('use --node URL') });
    const withNode = await run([...importArgs({ traces, headers: uncounted }, dataDir), '--node', anvil.url]);
    expect(withNode).toMatchObject({ status: 0, stdout: expect.stringMatching(/^Indexed \d+ blocks/) });
    const range = ['--from', '1', '--to', String(head)];
    expect(await run(['index', ...range, '--upstream', anvil.url, '--data-dir', indexed])).toMatchObject({
      status: 0,
    });
    expect(await contentsOf(dataDir)).toEqual(await contentsOf(indexed));

    const lacking = await run(
      importArgs({ traces, headers }, folder()).concat('--node', 'http://127.0.0.1:1'),
    );
    expect(lacking).toMatchObject({ status: 1, stderr: expect.stringContaining('no usable node') });
    const server = await startFloodgate({ upstream: anvil.url, dataDir });
    const inUse = await run(importArgs({ traces, headers }, dataDir));
    const merged = await run(['index', '--data-dir', indexed, '--from-data-dir', dataDir]);
    await server.stop();
    for (const { status, stderr } of [inUse, merged])
      expect({ status, stderr }).toMatchObject({
        status: 1,
        stderr: expect.stringMatching(/in use by another Floodgate/),
      });
  });
});
