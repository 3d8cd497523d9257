import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  type Address,
  type Hash,
  type HistoryPosition,
  IndexConflictError,
  type IndexedBlock,
  indexBlock,
  indexUnavailable,
  JsonWriter,
  MAX_COUNT,
  type StoredBlock,
  TRACE_FAILURES,
  type TraceFilter,
  type TraceStore,
} from '../../src/ethereum/traces/index.ts';
import { referenceFilter } from '../support/plainFilter.ts';
import { Random } from '../support/random.ts';
import { type SyntheticBlock, syntheticBlock } from '../support/syntheticChain.ts';
import { stringifyTraces } from '../support/textOfTraces.ts';
import { shape } from './growingChain.ts';

const MAX_BYTES = 64 * 1024 * 1024;
/** Below the end of a segment, so that the blocks are in two segments. */
const FIRST = 1018;
const NUMBERS = Array.from({ length: 12 }, (_, i) => FIRST + i);
const LAST = FIRST + 11;
const [ADDRESS] = shape.addresses as readonly [Address, ...Address[]]; // the list is not empty
const UNAVAILABLE = [FIRST + 3, FIRST + 4, FIRST + 8, LAST];

/** Tests that every engine must pass for blocks that no node can trace. */
export function unavailableBlocksContract(
  engine: string,
  prepare: () => Promise<{ open(): Promise<TraceStore>; remove(): Promise<void> }>,
): void {
  describe(`unavailable blocks on ${engine}`, () => {
    let data: Awaited<ReturnType<typeof prepare>>;
    let store: TraceStore;
    let blocks: SyntheticBlock[];

    beforeEach(async () => {
      data = await prepare();
      store = await data.open();
      const random = new Random(41);
      blocks = chainFrom(random, NUMBERS);
      await store.apply({ blocks: blocks.map((block) => indexed(block)) });
    });
    afterEach(async () => {
      await store.close();
      await data.remove();
    });

    const blockAt = (number: number): SyntheticBlock => blocks[number - FIRST] as SyntheticBlock;
    const listed = async (from = 0, to = Number.MAX_SAFE_INTEGER, max = 100) =>
      (await store.unavailable(from, to, max)).map(({ number, hash, unavailable }) => [
        number,
        hash,
        unavailable,
      ]);
    const record = (number: number) => [number, blockAt(number).header.hash, reasonOf(number)];

    async function filtered(fromBlock: number, toBlock: number): Promise<string | undefined> {
      const bytes = await store.filter(filterOf(fromBlock, toBlock), MAX_BYTES);
      return bytes && Buffer.from(bytes).toString();
    }

    const plain = (fromBlock: number, toBlock: number): string =>
      stringifyTraces(
        referenceFilter(
          blocks.flatMap(({ traces }) => traces),
          filterOf(fromBlock, toBlock),
        ),
      );

    async function historyMissing(): Promise<readonly unknown[]> {
      const missing: (readonly number[])[] = [];
      for (let cursor: HistoryPosition | undefined, isLast = false; !isLast; isLast = cursor === undefined) {
        const page = await store.addressTraces(
          {
            addresses: [ADDRESS],
            direction: 'either',
            fromBlock: FIRST,
            toBlock: LAST,
            order: 'asc',
            filter: {},
            limit: 200,
            ...(cursor && { cursor }),
          },
          MAX_BYTES,
          new JsonWriter(),
        );
        missing.push(...page.missing.map(({ fromBlock, toBlock }) => [fromBlock, toBlock]));
        cursor = page.next;
      }
      return missing;
    }

    test('are linked blocks without traces, listed with their reasons, and kept after a restart', async () => {
      for (const reopened of [false, true]) {
        if (reopened) {
          await store.close();
          store = await data.open();
        }
        expect(await store.head()).toEqual(stored(blockAt(LAST)));
        expect(await store.firstMissing(FIRST, LAST)).toBeUndefined();
        expect(await store.firstMissing(LAST, LAST + 5)).toBe(LAST + 1);
        expect(await listed()).toEqual(UNAVAILABLE.map(record));
        expect(await listed(0, Number.MAX_SAFE_INTEGER, 2)).toEqual(UNAVAILABLE.slice(0, 2).map(record));
        expect(await listed(FIRST + 4, FIRST + 8)).toEqual([record(FIRST + 4), record(FIRST + 8)]);
        expect(await listed(FIRST + 5, FIRST + 7)).toEqual([]);
        for (const block of blocks) {
          const { number } = block.header;
          expect(await store.block(number)).toEqual(stored(block));
          expect(await store.lastBlock(number)).toEqual(stored(block));
          const traces = await store.blockTraces(number, MAX_BYTES);
          if (UNAVAILABLE.includes(number)) expect(traces, String(number)).toBeUndefined();
          else expect(traces?.toString()).toBe(stringifyTraces(block.traces));
        }
        expect(await filtered(FIRST, FIRST + 2)).toBe(plain(FIRST, FIRST + 2));
        expect(await filtered(FIRST + 9, LAST - 1)).toBe(plain(FIRST + 9, LAST - 1));
        for (const number of UNAVAILABLE) {
          expect(await filtered(number, number)).toBeUndefined();
          expect(await filtered(number - 1, number)).toBeUndefined();
          const [hash] = blockAt(number).header.transactionHashes;
          if (hash !== undefined)
            expect(await store.transactionTraces(hash, { maxBytes: MAX_BYTES })).toBeUndefined();
        }
        expect(await historyMissing()).toEqual([
          [FIRST + 3, FIRST + 4],
          [FIRST + 8, FIRST + 8],
          [LAST, LAST],
        ]);
        const summary = await store.addressSummary({
          address: ADDRESS,
          fromBlock: FIRST,
          toBlock: LAST,
        });
        expect(summary.missing).toHaveLength(3);
      }
    });

    test('become available with their traces, and then cannot become unavailable', async () => {
      for (const number of [...UNAVAILABLE].reverse()) {
        const { header, traces } = blockAt(number);
        await store.apply({ blocks: [indexBlock(header, traces)] });
        await store.apply({ blocks: [indexUnavailable(header, 'timeout')] });
        expect((await store.blockTraces(number, MAX_BYTES))?.toString()).toBe(stringifyTraces(traces));
      }
      expect(await listed()).toEqual([]);
      expect(await historyMissing()).toEqual([]);
      expect(await filtered(FIRST, LAST)).toBe(plain(FIRST, LAST));
      expect((await store.head())?.unavailable).toBeUndefined();
      await store.close();
      store = await data.open();
      expect(await listed()).toEqual([]);
      expect(await filtered(FIRST, LAST)).toBe(plain(FIRST, LAST));
    });

    test('accept only their children as next blocks', async () => {
      const next = syntheticBlock(new Random(2), shape, {
        number: LAST + 1,
        parentHash: blockAt(LAST).header.hash,
      });
      const stranger = syntheticBlock(new Random(3), shape, { number: LAST + 1 });
      await expect(store.apply({ blocks: [indexBlock(stranger.header, stranger.traces)] })).rejects.toThrow(
        IndexConflictError,
      );
      const other = { ...blockAt(LAST).header, hash: `0x${'5'.repeat(64)}` as Hash };
      for (const block of [indexBlock(other, []), indexUnavailable(other, 'invalid')])
        await expect(store.apply({ blocks: [block] })).rejects.toThrow(IndexConflictError);
      await store.apply({ blocks: [indexBlock(next.header, next.traces)] });
      expect((await store.head())?.number).toBe(LAST + 1);
      expect(await filtered(LAST + 1, LAST + 1)).toBe(stringifyTraces(next.traces));
    });

    test('are removed by a reorganisation, and new ones can be added', async () => {
      const undoFrom = FIRST + 4;
      const parentHash = blockAt(undoFrom - 1).header.hash;
      const branch = chainFrom(new Random(5), [undoFrom, undoFrom + 1, undoFrom + 2], parentHash);
      await store.apply({
        undoFrom,
        blocks: branch.map(({ header, traces }, i) =>
          i === 1 ? indexUnavailable(header, 'oversized') : indexBlock(header, traces),
        ),
      });
      expect(await listed()).toEqual([
        record(FIRST + 3),
        [undoFrom + 1, branch[1]?.header.hash, 'oversized'],
      ]);
      await store.apply({ undoFrom: FIRST + 3, blocks: [] });
      expect(await listed()).toEqual([]);
      expect((await store.head())?.number).toBe(FIRST + 2);
      expect(await filtered(FIRST, FIRST + 2)).toBe(plain(FIRST, FIRST + 2));
    });
  });
}

const reasonOf = (number: number) =>
  TRACE_FAILURES[UNAVAILABLE.indexOf(number) % TRACE_FAILURES.length] ?? 'invalid';

const indexed = ({ header, traces }: SyntheticBlock): IndexedBlock =>
  UNAVAILABLE.includes(header.number)
    ? indexUnavailable(header, reasonOf(header.number))
    : indexBlock(header, traces);

function stored(block: SyntheticBlock): StoredBlock {
  return indexed(block).block;
}

const filterOf = (fromBlock: number, toBlock: number): TraceFilter => ({
  fromBlock,
  toBlock,
  fromAddresses: [],
  toAddresses: [],
  mode: 'intersection',
  after: 0,
  count: MAX_COUNT,
});

/** Generates blocks with traces, each the child of the previous one. */
function chainFrom(random: Random, numbers: readonly number[], parent?: Hash): SyntheticBlock[] {
  const blocks: SyntheticBlock[] = [];
  for (const number of numbers) {
    const parentHash = blocks.at(-1)?.header.hash ?? parent;
    blocks.push(syntheticBlock(random, shape, { number, parentHash }));
  }
  return blocks;
}
