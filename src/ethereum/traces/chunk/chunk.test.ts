import fc from 'fast-check';
import { expect, test } from 'vitest';
import { anyTrace } from '../trace.arbitrary.ts';
import type { Hash, Trace } from '../trace.ts';
import { encodeChunks } from './encode.ts';
import { chunkOf, TRACES_PER_CHUNK } from './format.ts';
import { JsonWriter } from './jsonWriter.ts';
import { writeTrace } from './writeTrace.ts';

const json = new JsonWriter();

function readBack(chunks: readonly Uint8Array[], place: number, blockNumber: number): string {
  const chunk = chunks[chunkOf(place)];
  if (chunk === undefined) throw new Error(`no chunk for trace ${place}`);
  json.reset();
  writeTrace(json, chunk, place % TRACES_PER_CHUNK, blockNumber);
  return json.copy().toString();
}

test('every trace of a block is read back from its chunk to the letter', () => {
  fc.assert(
    fc.property(
      fc.array(anyTrace(), { minLength: 1, maxLength: 40 }),
      fc.nat(2 ** 40),
      (traces: Trace[], blockNumber) => {
        const blockHash = `0x${'ab'.repeat(32)}` as Hash; // a literal of the right shape
        const placed = traces.map((trace) => ({ ...trace, blockHash, blockNumber }));
        const chunks = encodeChunks(blockHash, placed);
        placed.forEach((trace, place) => {
          expect(readBack(chunks, place, blockNumber)).toBe(JSON.stringify(trace));
        });
      },
    ),
  );
});
