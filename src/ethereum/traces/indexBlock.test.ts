import fc from 'fast-check';
import { expect, test } from 'vitest';
import { indexBlock, indexChunks } from './indexBlock.ts';
import { anyTrace } from './trace.arbitrary.ts';
import type { BlockHeader, Hash, Trace } from './trace.ts';

const hash = `0x${'ab'.repeat(32)}` as Hash; // literal of the right form
const header: BlockHeader = { number: 7, hash, parentHash: hash, timestamp: 1, transactionHashes: [] };

test('indexChunks returns the same block from chunks as indexBlock from traces', () => {
  fc.assert(
    fc.property(fc.array(anyTrace(), { minLength: 0, maxLength: 40 }), (traces: Trace[]) => {
      const indexed = indexBlock(header, traces);
      expect(
        indexChunks(
          indexed.block,
          indexed.chunks.map((chunk) => Buffer.from(chunk)),
        ),
      ).toEqual({ ...indexed, chunks: indexed.chunks.map((chunk) => Buffer.from(chunk)) });
    }),
  );
});
