import { parquetMetadata, parquetReadObjects } from 'hyparquet';
import { describe, expect, it } from 'vitest';
import type { Trace } from '../../ethereum/traces/index.ts';
import { parquetOf } from './traceParquet.ts';

const HASH = `0x${'ab'.repeat(32)}`;
const ADDRESS = `0x${'cd'.repeat(20)}`;
const MEGABYTE = 1024 * 1024;

const place = {
  blockHash: HASH,
  blockNumber: 7,
  subtraces: 0,
  traceAddress: [],
  transactionHash: HASH,
  transactionPosition: 0,
};
const action = { callType: 'call', from: ADDRESS, to: ADDRESS, gas: '0x10', input: '0x', value: '0x1' };
const callOf = (other: object = {}): Trace =>
  ({
    ...place,
    type: 'call',
    action,
    result: { gasUsed: '0x1', output: '0x' },
    ...other,
  }) as unknown as Trace; // brands

async function fileOf(...pages: readonly (readonly Trace[])[]): Promise<ArrayBuffer> {
  async function* given() {
    yield* pages;
  }
  const pieces: Uint8Array[] = [];
  for await (const piece of parquetOf(given())) pieces.push(piece);
  const all = Buffer.concat(pieces);
  return all.buffer.slice(all.byteOffset, all.byteOffset + all.length) as ArrayBuffer; // node's buffers are not shared
}

describe('parquetOf', () => {
  it('encodes all trace types and exact numbers', async () => {
    const value = `0x${'f'.repeat(64)}`;
    const failed = callOf({
      action: { ...action, value },
      result: null,
      traceAddress: [0, 3, 1],
      error: 'Bad \u{1f9ea} \ue000 instruction',
    });
    const destroyed = callOf({
      type: 'suicide',
      action: { address: ADDRESS, balance: '0x0', refundAddress: ADDRESS },
      result: null,
    });
    const paid = callOf({
      type: 'reward',
      action: { author: ADDRESS, rewardType: 'block', value: '0x1bc16d674ec80000' },
      result: null,
      transactionHash: null,
      transactionPosition: null,
    });
    const rows = await parquetReadObjects({ file: await fileOf([callOf(), failed], [], [destroyed, paid]) });
    expect(rows).toMatchObject([
      { blockNumber: 7n, traceAddress: [], value: '1', gas: 16n, gasUsed: 1n, error: null },
      {
        traceAddress: [0, 3, 1],
        value: (2n ** 256n - 1n).toString(),
        error: 'Bad \u{1f9ea} \ue000 instruction',
        output: null,
      },
      { type: 'suicide', from: ADDRESS, to: ADDRESS, gas: null, value: '0' },
      { type: 'reward', kind: 'block', value: '2000000000000000000', transactionPosition: null },
    ]);
  });

  it('writes a file without rows if there are no traces', async () => {
    const file = await fileOf([], []);
    expect(parquetMetadata(file).num_rows).toBe(0n);
    expect(await parquetReadObjects({ file })).toEqual([]);
  });

  it('bounds row groups by the size of texts and by the length of trace addresses', async () => {
    const large = callOf({ action: { ...action, input: `0x${'00'.repeat(8 * MEGABYTE)}` } });
    const texts = parquetMetadata(await fileOf(Array.from({ length: 5 }, () => large)));
    expect(texts.row_groups.map(({ num_rows }) => num_rows)).toEqual([2n, 2n, 1n]);
    const deep = callOf({ traceAddress: Array.from({ length: 1000 }, (_, i) => i) });
    const file = await fileOf(Array.from({ length: 450 }, () => deep));
    expect(parquetMetadata(file).row_groups.map(({ num_rows }) => num_rows)).toEqual([200n, 200n, 50n]);
    const rows = await parquetReadObjects({ file, columns: ['traceAddress'] });
    expect(rows.every(({ traceAddress }) => traceAddress.length === 1000)).toBe(true);
  });

  it('rejects gas above the column maximum and names block and transaction', async () => {
    const trace = callOf({ action: { ...action, gas: '0x8000000000000000' } });
    await expect(fileOf([trace])).rejects.toThrow(/block 7, transaction 0, has 9223372036854775808 gas/);
  });
});
