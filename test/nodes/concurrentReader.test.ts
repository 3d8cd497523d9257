import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTraceStore } from '../../src/ethereum/store/lmdb/traces/index.ts';
import { indexBlock, type TraceStore } from '../../src/ethereum/traces/index.ts';
import { Random } from '../support/random.ts';
import { type SyntheticBlock, syntheticAddresses, syntheticBlock } from '../support/syntheticChain.ts';

const READER = fileURLToPath(new URL('support/reader.js', import.meta.url));
const EXPORTER = fileURLToPath(new URL('support/exporter.js', import.meta.url));

interface Read {
  readonly head: number;
  readonly texts: readonly string[];
}

/** Enough traces for the index to create a compression dictionary. */
const SHAPE = { addresses: syntheticAddresses(40), maxTransactions: 40, maxFrames: 20 };
const BLOCKS_PER_STEP = 16;
/** Postings are merged after every step, in several merges. */
const MERGED_OFTEN = { maxRecentPositions: 500, listsPerMerge: 200 };

describe('an index read by another process while it is written', () => {
  const folder = mkdtempSync(join(tmpdir(), 'floodgate-reader-'));
  const random = new Random(12);
  const chain: SyntheticBlock[] = [];
  let store: TraceStore;
  let reader: ChildProcess;

  beforeAll(async () => {
    store = openTraceStore(join(folder, 'traces'), MERGED_OFTEN);
    reader = fork(READER, [join(folder, 'traces')]);
    await once(reader, 'message');
  });
  afterAll(async () => {
    reader.kill();
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  });

  test('is read consistently with new blocks, new dictionaries, a growing file and replaced blocks', async () => {
    for (let step = 0; step < 4; step++) {
      await write(undefined);
      await expectRead();
    }
    chain.splice(-BLOCKS_PER_STEP / 2);
    await write(chain.length);
    await expectRead();
  });

  test('is exported from one chain, and the export fails if blocks of the range are replaced', async () => {
    const last = chain.length - 1;
    const exporter = fork(EXPORTER, [folder, '0', String(last)]);
    await once(exporter, 'message');
    const next = async (): Promise<unknown> => {
      exporter.send('next');
      return (await once(exporter, 'message'))[0];
    };
    try {
      expect(await next()).toEqual({ done: false, traces: chain[0]?.traces });
      // Blocks added after the range do not affect the export.
      await write(undefined);
      expect(await next()).toEqual({ done: false, traces: chain[1]?.traces });
      chain.splice(last - 2);
      await write(chain.length);
      expect(await next()).toEqual({
        name: 'ExportError',
        message: expect.stringContaining('blocks of the range were replaced'),
      });
    } finally {
      exporter.kill();
    }
  });

  async function write(undoFrom: number | undefined): Promise<void> {
    const first = chain.length;
    for (let number = first; number < first + BLOCKS_PER_STEP; number++)
      chain.push(syntheticBlock(random, SHAPE, { number, parentHash: chain[number - 1]?.header.hash }));
    const blocks = chain.slice(first).map(({ header, traces }) => indexBlock(header, traces));
    await store.apply({ blocks, ...(undoFrom !== undefined && { undoFrom }) });
  }

  async function expectRead(): Promise<void> {
    reader.send({ fromBlock: 0, toBlock: chain.length - 1 });
    const [{ head, texts }] = (await once(reader, 'message')) as [Read]; // the message of reader.js
    expect(head).toBe(chain.length - 1);
    expect(texts.map((text) => JSON.parse(text))).toEqual(chain.map(({ traces }) => traces));
  }
});
