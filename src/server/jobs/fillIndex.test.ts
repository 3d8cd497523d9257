import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { type FillIndexOptions, fillIndex } from './fillIndex.ts';
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
