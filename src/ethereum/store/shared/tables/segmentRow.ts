import { nativeRows, type Rows } from '../connection/native.ts';
import type { SegmentState } from '../reads/segments.ts';
import { bytesOf } from './blockRow.ts';

/** Encodes the state of a complete segment as a row of `trace_segments`. */
export function segmentRows(chain: bigint, firstBlock: number, state: SegmentState): Rows {
  const { blocks, blockSum, parties, partySum, parent, last, ignored } = state;
  if (parent === undefined || last === undefined) return nativeRows(0, []);
  const long = (value: bigint): BigUint64Array => BigUint64Array.of(value);
  return nativeRows(1, [
    ['chain', 'UInt64', long(chain)],
    ['number', 'UInt32', Uint32Array.of(firstBlock)],
    ['blocks', 'UInt64', long(blocks)],
    ['block_sum', 'UInt64', long(blockSum)],
    ['parties', 'UInt64', long(parties)],
    ['party_sum', 'UInt64', long(partySum)],
    ['parent', 'FixedString(32)', bytesOf(parent)],
    ['last', 'FixedString(32)', bytesOf(last)],
    // An array of a column of one row: its length, then its values.
    [
      'ignored',
      'Array(UInt64)',
      Buffer.concat([
        new Uint8Array(BigUint64Array.of(BigInt(ignored.length)).buffer),
        new Uint8Array(BigUint64Array.from(ignored).buffer),
      ]),
    ],
  ]);
}
