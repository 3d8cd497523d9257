import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { open as openLmdb } from 'lmdb';
import { expect, test } from 'vitest';
import { Random } from '../../../../../test/support/random.ts';
import { syntheticAddresses, syntheticBlock } from '../../../../../test/support/syntheticChain.ts';
import {
  type Data,
  type Hash,
  indexBlock,
  indexUnavailable,
  TRACES_PER_CHUNK,
  type Trace,
} from '../../../traces/index.ts';
import { chunkKey } from './keys.ts';
import { openTraceStore } from './traceStore.ts';

const shape = { addresses: syntheticAddresses(5), maxTransactions: 12, maxFrames: 4 };

/** Replaces the input of a call by a long one, which is stored in a data chunk if it occurs several times. */
function withSharedInput(trace: Trace): Trace {
  const input = `0x${'ab'.repeat(64 * 1024)}` as Data; // hex digits
  return trace.type === 'call' ? { ...trace, action: { ...trace.action, input } } : trace;
}

test('indexedBlock returns blocks as they were added, and throws if a chunk is missing', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'floodgate-indexed-block-'));
  try {
    const random = new Random(8);
    const store = openTraceStore(folder);
    let parentHash: Hash | undefined;
    for (let number = 5; number < 25; number++) {
      const { header, traces } = syntheticBlock(random, shape, { number, parentHash });
      parentHash = header.hash;
      const indexed =
        number === 9
          ? indexUnavailable(header, 'timeout')
          : indexBlock(header, number < 15 ? traces : traces.map(withSharedInput));
      await store.apply({ blocks: [indexed] });
      const chunks = indexed.chunks.map((chunk) => Buffer.from(chunk));
      expect(store.indexedBlock(number)).toEqual({ ...indexed, chunks });
    }
    expect(store.indexedBlock(4)).toBeUndefined();
    const last = store.indexedBlock(24);
    const dataChunk = Math.ceil((last?.block.traceCount ?? 0) / TRACES_PER_CHUNK);
    expect(last?.chunks.length).toBeGreaterThan(dataChunk);
    await store.close();

    for (const chunk of [dataChunk, 0]) {
      const damaged = openLmdb({ path: folder, maxDbs: 100, keyEncoding: 'binary', encoding: 'binary' });
      const chunks = damaged.openDB({ name: 'chunks-0', keyEncoding: 'binary', encoding: 'binary' });
      expect(chunks.removeSync(chunkKey(24, chunk))).toBe(true);
      await damaged.close();
      const reopened = openTraceStore(folder);
      expect(() => reopened.indexedBlock(24)).toThrow(/of block 24 is missing/);
      await reopened.close();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
