import { describe, expect, it } from 'vitest';
import { BlockUnavailableError } from '../../../ingest/index.ts';
import { NoNodeError, RpcError } from '../../../jsonrpc/index.ts';
import type { NodeHeads } from '../../../nodes/index.ts';
import {
  AnswerTooLargeError,
  type Hash,
  type IndexedBlock,
  TooManyTracesError,
  type TraceReader,
} from '../../../traces/index.ts';
import type { IndexServices } from '../traces/indexServices.ts';
import { BlocksByHash } from './blocksByHash.ts';
import { checkHead, MAX_READS, readBlocks, resolveBound, resolveHeads, withSizeErrors } from './fromIndex.ts';

const hashOf = (number: number): Hash => `0x${number}` as Hash; // only compared
const blockAt = (number: number) => ({ number, hash: hashOf(number), parentHash: hashOf(number - 1) });
const headsAt = (latest: number, safe?: number, finalized?: number): NodeHeads => ({
  latest: blockAt(latest),
  ...(safe !== undefined && { safe: blockAt(safe) }),
  ...(finalized !== undefined && { finalized: blockAt(finalized) }),
});

interface Setup {
  readonly indexed?: number;
  readonly lastHeads?: NodeHeads;
  /** Heads after a poll. */
  readonly freshHeads?: NodeHeads;
  readonly ensure?: (from: number, to: number) => Promise<void>;
  readonly blockOfHash?: IndexServices['finder']['blockOfHash'];
}

function services({ indexed, lastHeads, freshHeads, ensure, blockOfHash }: Setup) {
  const calls = { polls: 0, ensured: [] as [number, number][], found: 0 };
  const store = {
    head: () => (indexed === undefined ? undefined : { ...blockAt(indexed), timestamp: 0, traceCount: 0 }),
  } as Partial<TraceReader> as TraceReader; // no other method is called
  const made: IndexServices = {
    store,
    indexer: {
      lastHeads,
      async freshHeads() {
        calls.polls++;
        return freshHeads ?? lastHeads;
      },
      async ensure(from, to) {
        calls.ensured.push([from, to]);
        await ensure?.(from, to);
      },
      charge: () => undefined,
    },
    finder: {
      transactionBlock: async () => undefined,
      block: async () => undefined,
      revertOutput: () => Promise.reject(new Error('not used')),
      async blockOfHash(hash) {
        calls.found++;
        return blockOfHash?.(hash);
      },
    },
    maxAnswerBytes: 1000,
  };
  return { made, calls };
}

describe('the tags of a request', () => {
  it('latest is the newest indexed block, and needs no poll', async () => {
    const { made, calls } = services({ indexed: 95, lastHeads: headsAt(100, 90, 80) });
    expect(await resolveHeads(made, ['latest', 'safe', 'finalized', 'earliest', 95])).toEqual({
      head: 100,
      latest: 95,
      safe: 90,
      finalized: 80,
    });
    expect(calls.polls).toBe(0);
  });

  it('latest is never above the head of the nodes', async () => {
    const { made } = services({ indexed: 105, lastHeads: headsAt(100) });
    expect(await resolveHeads(made, ['latest'])).toMatchObject({ head: 100, latest: 100 });
  });

  it('latest is the head if a bound is above the index, so that the range is valid', async () => {
    const { made } = services({ indexed: 95, lastHeads: headsAt(100, 97, 80) });
    expect(await resolveHeads(made, [96, 'latest'])).toMatchObject({ latest: 100 });
    expect(await resolveHeads(made, ['safe', 'latest'])).toMatchObject({ latest: 100 });
    expect(await resolveHeads(made, [95, 'latest'])).toMatchObject({ latest: 95 });
  });

  it('the nodes are polled if a bound is above their last head, or unknown', async () => {
    const above = services({ indexed: 95, lastHeads: headsAt(100), freshHeads: headsAt(101) });
    expect(await resolveHeads(above.made, [101])).toMatchObject({ head: 101, latest: 101 });
    expect(await resolveHeads(above.made, ['safe'])).toMatchObject({ safe: undefined });
    expect(above.calls.polls).toBe(2);
    await resolveHeads(above.made, [100]);
    expect(above.calls.polls).toBe(2);
  });

  it('the head is that of the index until a node has responded; without both there is none', async () => {
    expect(await resolveHeads(services({ indexed: 95 }).made, ['latest'])).toMatchObject({
      head: 95,
      latest: 95,
    });
    await expect(resolveHeads(services({}).made, ['latest'])).rejects.toThrow(NoNodeError);
    const first = services({ freshHeads: headsAt(7) });
    expect(await resolveHeads(first.made, ['latest'])).toMatchObject({ head: 7, latest: 7 });
  });

  it('a tag without a block, or with one above the head, is not found', () => {
    const heads = { head: 100, latest: 95, safe: 101, finalized: undefined };
    for (const tag of ['safe', 'finalized'] as const)
      expect(() => resolveBound(heads, 'fromBlock', tag)).toThrow(
        `fromBlock: no node reports a ${tag} block`,
      );
    expect(resolveBound({ ...heads, safe: 100 }, 'fromBlock', 'safe')).toBe(100);
    expect([resolveBound(heads, 'toBlock', 'latest'), resolveBound(heads, 'toBlock', 'earliest')]).toEqual([
      95, 0,
    ]);
    expect(resolveBound(heads, 'toBlock', 500)).toBe(500);
  });

  it('a block above the head is an error with the head', () => {
    const heads = { head: 100, latest: 95, safe: undefined, finalized: undefined };
    expect(() => checkHead(heads, 'toBlock', 100)).not.toThrow();
    expect(() => checkHead(heads, 'toBlock', 101)).toThrow(
      'toBlock 101 is past the head of the chain, block 100',
    );
  });
});

describe('a range of blocks', () => {
  const RANGE = { fromBlock: 3, toBlock: 5, caller: {} };

  it('is read without a promise if it is indexed', () => {
    const { made, calls } = services({});
    expect(readBlocks(made, RANGE, () => 'read')).toBe('read');
    expect(calls.ensured).toEqual([]);
  });

  it('is fetched and read again, four times at most', async () => {
    for (const [readsUntilFound, fetches] of [
      [2, 1],
      [MAX_READS, MAX_READS - 1],
    ] as const) {
      const { made, calls } = services({});
      let reads = 0;
      expect(await readBlocks(made, RANGE, () => (++reads === readsUntilFound ? 'read' : undefined))).toBe(
        'read',
      );
      expect(calls.ensured).toEqual(Array(fetches).fill([3, 5]));
    }
    let reads = 0;
    const { made } = services({});
    const missing = readBlocks(made, RANGE, () => void reads++);
    await expect(missing).rejects.toMatchObject({ code: -32001, data: { blockNumber: 5 } });
    expect(reads).toBe(MAX_READS);
    const one = readBlocks(made, { fromBlock: 5, toBlock: 5, caller: {} }, () => undefined);
    await expect(one).rejects.toThrow('block 5 was replaced by another');
  });

  it('is read again when the scheduler continues the client, because many requests may have waited for its blocks', async () => {
    const steps: string[] = [];
    const { made } = services({ ensure: async () => void steps.push('fetched') });
    const caller = { nextTurn: async () => void steps.push('turn') };
    await readBlocks(made, { ...RANGE, caller }, () => (steps.push('read') > 1 ? 'read' : undefined));
    expect(steps).toEqual(['read', 'fetched', 'turn', 'read']);
  });

  it('with a block that no node can return is an error that names it', async () => {
    const failing = (failure?: 'timeout') =>
      readBlocks(
        services({
          ensure: async () => {
            throw new BlockUnavailableError(4, { failure });
          },
        }).made,
        RANGE,
        () => undefined,
      );
    await expect(failing()).rejects.toMatchObject({ code: -32001, data: { blockNumber: 4 } });
    await expect(failing('timeout')).rejects.toMatchObject({ data: { blockNumber: 4, reason: 'timeout' } });
    const other = services({ ensure: () => Promise.reject(new TypeError('a bug')) });
    await expect(readBlocks(other.made, RANGE, () => undefined)).rejects.toThrow(TypeError);
  });
});

describe('a block that a shared index does not prove', () => {
  /** A shared index that needs the blocks 5 and 7 of nodes, whose blocks are empty, except `untraced`. */
  function sharedServices(untraced?: number) {
    const { made, calls } = services({});
    const charged: number[] = [];
    const shared: IndexServices = {
      ...made,
      indexer: { ...made.indexer, charge: (blocks) => void charged.push(blocks) },
      store: {
        ...made.store,
        fetching: (fetch) => ({
          ...made.store,
          blockTraces: async () => Buffer.from(JSON.stringify(await fetch([5, 7]))),
        }),
      },
      finder: {
        ...made.finder,
        block: async (number) => ({
          header: { ...blockAt(number), timestamp: 0, transactionHashes: [] },
          traces: [],
          ...(number === untraced && { unavailable: 'timeout' }),
        }),
      },
    };
    const read = async () => {
      const range = { fromBlock: 3, toBlock: 9, caller: {} };
      const bytes = await readBlocks(shared, range, (store) => store.blockTraces(3, 1000));
      return (JSON.parse(bytes.toString()) as IndexedBlock[]).map(({ block }) => block.number);
    };
    return { read, charged, calls };
  }

  it('is read from nodes, charged to the client, and not stored', async () => {
    const { read, charged, calls } = sharedServices();
    expect(await read()).toEqual([5, 7]);
    expect([charged, calls.ensured]).toEqual([[2], []]);
  });

  it('is an error with the reason if no node can trace it', async () => {
    const { read } = sharedServices(7);
    await expect(read()).rejects.toMatchObject({ code: -32001, data: { blockNumber: 7, reason: 'timeout' } });
  });
});

describe('a result that is too large', () => {
  it.each<[string, Error, string, number]>([
    ['bytes', new AnswerTooLargeError(1000), 'the result exceeds 1000 bytes: use count', 1000],
    ['traces', new TooManyTracesError(10_000), 'more than 10000 traces match', 10_000],
  ])('is an error with the limit of %s, thrown or rejected', async (_, ...[error, message, limit]) => {
    const expected = { code: -32005, message: expect.stringContaining(message), data: { limit } };
    const thrown = async () =>
      withSizeErrors(() => {
        throw error;
      }, 'use count');
    await expect(thrown()).rejects.toMatchObject(expected);
    await expect(withSizeErrors(() => Promise.reject(error), 'use count')).rejects.toMatchObject(expected);
  });

  it('does not hide other errors', () => {
    const failing = () =>
      withSizeErrors(() => {
        throw new TypeError('a bug');
      }, '');
    expect(failing).toThrow(TypeError);
    expect(withSizeErrors(() => 'fine', '')).toBe('fine');
  });
});

describe('a block by hash', () => {
  const HEADS = headsAt(100);

  it('is read by the number that a node returns, which is remembered', async () => {
    const { made, calls } = services({ indexed: 100, lastHeads: HEADS, blockOfHash: async () => blockAt(7) });
    const blocks = new BlocksByHash(made);
    for (let i = 0; i < 3; i++)
      expect(await blocks.read(hashOf(7), {}, (number) => `block ${number}`)).toBe('block 7');
    expect([calls.found, calls.ensured]).toEqual([1, []]);
  });

  it('is fetched if it is missing; if it is still missing, the index follows the chain first', async () => {
    for (const [readsUntilFound, ensured] of [
      [2, [[7, 7]]],
      [
        3,
        [
          [7, 7],
          [101, 101],
        ],
      ],
    ] as const) {
      const { made, calls } = services({
        indexed: 100,
        lastHeads: HEADS,
        blockOfHash: async () => blockAt(7),
      });
      let reads = 0;
      const read = () => (++reads === readsUntilFound ? 'read' : undefined);
      expect(await new BlocksByHash(made).read(hashOf(7), {}, read)).toBe('read');
      expect(calls.ensured).toEqual(ensured);
    }
  });

  it('that is not in the chain, above the head or unknown is not found', async () => {
    const found = (number: number | undefined) =>
      services({
        indexed: 100,
        lastHeads: HEADS,
        blockOfHash: async () => (number === undefined ? undefined : blockAt(number)),
      });
    const read = (number: number | undefined) =>
      new BlocksByHash(found(number).made).read(hashOf(1), {}, () => undefined);
    await expect(read(7)).rejects.toMatchObject({
      code: -32001,
      data: { blockHash: hashOf(1), blockNumber: 7 },
    });
    await expect(read(101)).rejects.toMatchObject({ code: -32001, data: { blockNumber: 101 } });
    await expect(read(undefined)).rejects.toThrow('no node knows block');
  });

  it('that no node can return now is an error to try again, and a bug stays one', async () => {
    const { NodeError } = await import('../../../nodes/index.ts');
    const failing = (error: Error) =>
      new BlocksByHash(services({ blockOfHash: () => Promise.reject(error) }).made).read(
        hashOf(1),
        {},
        () => 1,
      );
    await expect(failing(new NodeError('unreachable', 'gone'))).rejects.toThrow(NoNodeError);
    await expect(failing(new TypeError('a bug'))).rejects.toThrow(TypeError);
    expect(new NoNodeError()).toBeInstanceOf(RpcError);
  });
});
