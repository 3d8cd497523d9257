import { expect, it } from 'vitest';
import { GrowingChain } from '../../../../../test/contract/growingChain.ts';
import { compareSome } from '../../../../../test/contract/traceStore.ts';
import { Random } from '../../../../../test/support/random.ts';
import { stringifyTraces } from '../../../../../test/support/textOfTraces.ts';
import {
  AnswerTooLargeError,
  type Hash,
  indexBlock,
  type TraceFilter,
  type TraceStore,
} from '../../../traces/index.ts';
import { UnstoredBlocks } from './unstoredBlocks.ts';

const MAX_BYTES = 64 * 1024 * 1024;
const NONE = { apply: async () => undefined } as Partial<TraceStore> as TraceStore; // only apply is called

async function fetched() {
  const chain = new GrowingChain(new Random(81), 1015);
  await chain.grow(NONE, 16);
  const read = (fromBlock: number, toBlock: number) =>
    new UnstoredBlocks(
      [...chain.blocks.values()]
        .filter(({ header: { number } }) => number >= fromBlock && number <= toBlock)
        .map(({ header, traces }) => indexBlock(header, traces)),
    );
  return { chain, read };
}

it('blocks that are not stored give the matches of a plain filter', async () => {
  const { chain, read } = await fetched();
  const filter = (wanted: TraceFilter, maxBytes: number) =>
    read(wanted.fromBlock, wanted.toBlock).filter(wanted, maxBytes);
  await compareSome({ filter } as Partial<TraceStore> as TraceStore, chain, 300); // no other method is called
  const block = chain.blocks.get(1020)?.header;
  const one = { fromBlock: 1020, toBlock: 1020, fromAddresses: [], toAddresses: [], after: 0, count: 1 };
  const asked = { ...one, mode: 'union', blockHash: block?.hash } as const;
  expect(read(1020, 1020).filter(asked, MAX_BYTES)?.length).toBeGreaterThan(2);
  expect(read(1020, 1020).filter({ ...asked, blockHash: block?.parentHash }, MAX_BYTES)).toBeUndefined();
});

it('blocks that are not stored give the traces of a block and of its transactions', async () => {
  const { chain, read } = await fetched();
  const limits = { maxBytes: MAX_BYTES };
  for (const { header, traces } of chain.blocks.values()) {
    const blocks = read(header.number, header.number);
    expect(blocks.blockTraces(header.number, MAX_BYTES).toString()).toBe(stringifyTraces(traces));
    for (const hash of header.transactionHashes) {
      const own = traces.filter(({ transactionHash }) => transactionHash === hash);
      expect(String(blocks.transactionTraces(hash, limits))).toBe(stringifyTraces(own));
      for (const { traceAddress } of own)
        expect(JSON.parse(String(blocks.transactionTrace(hash, traceAddress, limits)))).toMatchObject({
          traceAddress,
          transactionHash: hash,
        });
      expect(blocks.transactionTrace(hash, [99], limits)).toBeNull();
      expect(() => blocks.transactionTrace(hash, [], { maxBytes: 20 })).toThrow(AnswerTooLargeError);
      expect(blocks.transactionPosition(hash)).toEqual({
        ...{ blockNumber: header.number, blockHash: header.hash },
        traceIndex: traces.findIndex(({ transactionHash }) => transactionHash === hash),
      });
    }
  }
  const unknown = new Random(1).hex(32) as Hash;
  const blocks = read(1015, 1015);
  expect(blocks.transactionTraces(unknown, limits)).toBeUndefined();
  expect(blocks.transactionTrace(unknown, [], limits)).toBeUndefined();
  expect(blocks.transactionPosition(unknown)).toBeUndefined();
});
