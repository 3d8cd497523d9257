import fc from 'fast-check';
import { expect, test } from 'vitest';
import { indexBlock } from '../indexBlock.ts';
import { positionOf } from '../position.ts';
import type { Postings, Side } from '../store.ts';
import { anyTrace } from '../trace.arbitrary.ts';
import type { BlockHeader, Hash, Trace } from '../trace.ts';
import { TRACES_PER_CHUNK } from './format.ts';
import { visitTerms } from './visitTerms.ts';

const TERM_BYTES = 20;

const hash = `0x${'ab'.repeat(32)}` as Hash; // literal of the right form
const header: BlockHeader = { number: 7, hash, parentHash: hash, timestamp: 1, transactionHashes: [] };

const pairs = ({ terms, positions }: Postings): string[] => terms.map((term, i) => `${term} ${positions[i]}`);

test('visitTerms returns the same index terms from chunks as indexBlock from traces', () => {
  fc.assert(
    fc.property(fc.array(anyTrace(), { minLength: 1, maxLength: 40 }), (traces: Trace[]) => {
      const { chunks, postings } = indexBlock(header, traces);
      const read: Record<Side, string[]> = { from: [], to: [], transaction: [] };
      chunks.forEach((chunk, i) => {
        visitTerms(chunk, (side, at, index) => {
          const term = `0x${Buffer.from(chunk.subarray(at, at + TERM_BYTES)).toString('hex')}`;
          read[side].push(`${term} ${positionOf(header.number, i * TRACES_PER_CHUNK + index)}`);
        });
      });
      expect(read).toEqual({
        from: pairs(postings.from),
        to: pairs(postings.to),
        transaction: pairs(postings.transaction),
      });
    }),
  );
});
