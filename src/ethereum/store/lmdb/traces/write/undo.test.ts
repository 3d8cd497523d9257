import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Random } from '../../../../../../test/support/random.ts';
import { syntheticAddresses, syntheticBlock } from '../../../../../../test/support/syntheticChain.ts';
import { flipBit, keysOf } from '../../../../../../test/traces/support/damage.ts';
import { type Data, type Hash, type IndexedBlock, indexBlock } from '../../../../traces/index.ts';
import { openTraceStore, verifyTraces } from '../index.ts';

/** The last block, which is undone. */
const LAST = 12;
/** Bytes of an input that all traces of the last block have, so that it is stored in a data chunk. */
const SHARED_BYTES = 70_000;

describe('the undo of a block with damaged records', () => {
  let folder: string;
  let replacement: IndexedBlock;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'floodgate-undo-'));
    const store = openTraceStore(folder, { maxRecentPositions: 300, listsPerMerge: 10 });
    const random = new Random(7);
    const shape = { addresses: syntheticAddresses(6), maxTransactions: 40, maxFrames: 5 };
    let parentHash: Hash | undefined;
    for (let number = 0; number <= LAST; number++) {
      const { header, traces } = syntheticBlock(random, shape, { number, parentHash });
      const other = syntheticBlock(random, shape, { number, parentHash });
      replacement = indexBlock(other.header, other.traces);
      parentHash = header.hash;
      const input = `0x${'ab'.repeat(SHARED_BYTES)}` as Data; // hex digits
      const withInput = traces.map((trace) =>
        trace.type === 'call' && number === LAST ? { ...trace, action: { ...trace.action, input } } : trace,
      );
      await store.apply({ blocks: [indexBlock(header, withInput)] });
    }
    await store.close();
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  /** Changes a bit in one of the last block's chunks: the first has traces, the last has the shared input. */
  async function damage(at: 0 | -1): Promise<void> {
    const keys = (await keysOf(folder, 'chunks-0')).filter((key) => key.readUInt32BE(0) === LAST);
    await flipBit(folder, { database: 'chunks-0', key: keys.at(at) });
  }

  it('needs no data chunk, and leaves an intact index', async () => {
    await damage(-1);
    expect(await verifyTraces(folder, () => undefined)).not.toEqual([]);
    const store = openTraceStore(folder);
    await store.apply({ undoFrom: LAST, blocks: [replacement] });
    await store.close();
    expect(await verifyTraces(folder, () => undefined)).toEqual([]);
  });

  it('fails and changes nothing if a chunk with traces is damaged', async () => {
    await damage(0);
    const before = await verifyTraces(folder, () => undefined);
    const store = openTraceStore(folder);
    await expect(store.apply({ undoFrom: LAST, blocks: [replacement] })).rejects.toThrow(/checksum/);
    await store.close();
    expect(await verifyTraces(folder, () => undefined)).toEqual(before);
  });
});
