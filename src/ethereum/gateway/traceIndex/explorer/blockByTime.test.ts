import fc from 'fast-check';
import { expect, it } from 'vitest';
import { RpcError } from '../../../jsonrpc/index.ts';
import { DEFAULT_LIMITS } from '../../callLimits.ts';
import type { CallContext } from '../../method.ts';
import { blockByTimeMethod, lastBlock } from './blockByTime.ts';

/** Seconds between blocks; several blocks of a layer 2 may have the same time. */
const GAPS = fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 70 });

const context = { limits: DEFAULT_LIMITS } as CallContext; // the method passes it on

function methodOf(timestamps: readonly number[], final = timestamps.length - 1) {
  const head = timestamps.length - 1;
  const asked: number[] = [];
  const heads = { latest: { number: head, hash: '0x', parentHash: '0x' } };
  const index = { store: { head: () => ({ number: head }) }, indexer: { lastHeads: heads } };
  const { handle } = blockByTimeMethod({
    index: index as never, // only these members are used
    chainId: () => '1',
    final: () => final,
    async block([number]) {
      asked.push(Number(number));
      const timestamp = timestamps[Number(number)];
      return timestamp === undefined ? null : { timestamp: `0x${timestamp.toString(16)}` };
    },
  });
  const find = async (query: string): Promise<string> => {
    const result = await handle(
      [new URLSearchParams(`module=block&action=getblocknobytime&${query}`)],
      context,
    );
    return JSON.parse(Buffer.from(result as Uint8Array).toString()).result;
  };
  return { find, asked };
}

it('returns the closest block before or after any time, as a search through all blocks does', async () => {
  await fc.assert(
    fc.asyncProperty(GAPS, fc.integer({ min: -3, max: 80 }), async (gaps, offset) => {
      const timestamps = [100];
      for (const gap of gaps) timestamps.push((timestamps.at(-1) ?? 0) + gap);
      const { find } = methodOf(timestamps);
      const time = 100 + offset;
      const answer = (closest: string) =>
        find(`timestamp=${time}&closest=${closest}`).catch((error: RpcError) => error.message);
      const expected = (number: number) => (number === -1 ? 'Error! No closest block found' : String(number));
      expect(await answer('before')).toBe(expected(timestamps.findLastIndex((one) => one <= time)));
      expect(await answer('after')).toBe(expected(timestamps.findIndex((one) => one >= time)));
    }),
  );
});

it('reads one header per bit of the head, and keeps final ones that other searches need', async () => {
  let reads = 0;
  const timestampOf = async (number: number): Promise<number> => {
    reads++;
    return 12 * number;
  };
  expect(await lastBlock(12 * 23_456_789 + 5, 24_000_000, timestampOf)).toBe(23_456_789);
  expect(reads).toBeLessThanOrEqual(26);
  const { find, asked } = methodOf(
    Array.from({ length: 10_000 }, (_, i) => i),
    5_000,
  );
  expect(await find('timestamp=7000')).toBe('7000');
  expect(await find('timestamp=7001&closest=after')).toBe('7001');
  expect(asked.filter((number) => number === 4_096)).toHaveLength(1);
  // Block 8192 is not final.
  expect(asked.filter((number) => number === 8_192)).toHaveLength(2);
});

it.each([
  ['', 'Missing timestamp'],
  ['timestamp=', 'Missing timestamp'],
  ['timestamp=0x10', 'timestamp is "0x10"; it must be a whole number'],
  ['timestamp=-1', 'whole number'],
  ['timestamp=1&closest=near', 'closest is "near"; it must be before or after'],
  ['timestamp=1&chainid=2', 'Missing or unsupported chainid parameter'],
])('the query %j is rejected', async (query, text) => {
  const { find, asked } = methodOf([1, 2]);
  await expect(find(query)).rejects.toThrow(text);
  await expect(find(query)).rejects.toBeInstanceOf(RpcError);
  expect(asked).toEqual([]);
});
