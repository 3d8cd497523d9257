import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { Finality } from '../../ethereum/nodes/index.ts';
import type { Hash } from '../../ethereum/traces/index.ts';
import { type FillIndexOptions, fillIndex, finalBlockOf } from './fillIndex.ts';
import { fillSharedIndex } from './fillSharedIndex.ts';
import { indexFolder } from './indexFolder.ts';

const NETWORK = 'mainnet';

function optionsFor(upstream: readonly string[]): FillIndexOptions {
  const dataDir = mkdtempSync(join(tmpdir(), 'floodgate-fill-'));
  onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }));
  return {
    dataDir,
    network: NETWORK,
    upstream,
    fromBlock: 0,
    toBlock: undefined,
    traceLimits: { maxBlockBytes: 1e6, traceTimeoutMs: 1e4, checkReceipts: false },
    signal: new AbortController().signal,
    progress: { started() {}, written() {}, trouble() {} },
  };
}

it('fillIndex unlocks the data folder if no node is reachable', async () => {
  const options = optionsFor(['http://127.0.0.1:9']);
  await expect(fillIndex(options)).rejects.toThrow(/^no usable node: /);
  expect(readdirSync(options.dataDir)).toEqual(['traces']);
});

it('fillIndex unlocks the data folder if the store is damaged', async () => {
  const options = optionsFor(['http://127.0.0.1:9']);
  const folder = indexFolder(options.dataDir, NETWORK);
  mkdirSync(folder);
  writeFileSync(join(folder, 'data.mdb'), 'not a store');
  await expect(fillIndex(options)).rejects.toThrow();
  expect(readdirSync(options.dataDir)).toEqual(['traces']);
});

it.each<[Finality | undefined, number]>([
  [undefined, 90],
  ['node', 90],
  [{ depth: 30 }, 70],
  [{ depth: 200 }, 0],
])('with the finality %j, the highest final block is %d', async (finality, final) => {
  const hash = '0x00' as Hash;
  const block = (number: number) => ({ number, hash, parentHash: hash });
  const source = { heads: async () => ({ latest: block(100), finalized: block(90) }) };
  expect(await finalBlockOf(source, finality)).toBe(final);
});

it('no block is written to a shared index if none is final', async () => {
  const options = { ...optionsFor([]), traceStore: undefined, finality: 'none' } as const;
  await expect(fillSharedIndex(options)).rejects.toThrow('index.finality is none');
});
