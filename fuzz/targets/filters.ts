/** Parameters of trace_filter, answered from the index and compared with a plain filter over all traces. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DEFAULT_LIMITS, METHODS, type Method, methodOf } from '../../src/ethereum/gateway/index.ts';
import { BlockUnavailableError } from '../../src/ethereum/ingest/index.ts';
import { type Result, RpcError } from '../../src/ethereum/jsonrpc/index.ts';
import { openTraceStore } from '../../src/ethereum/store/lmdb/traces/index.ts';
import { indexBlock, type Trace, type TraceStore } from '../../src/ethereum/traces/index.ts';
import { hasTooMany, referenceFilter } from '../../test/support/plainFilter.ts';
import { Random } from '../../test/support/random.ts';
import {
  type SyntheticBlock,
  syntheticAddresses,
  syntheticBlock,
} from '../../test/support/syntheticChain.ts';
import { must, type Target } from '../engine/target.ts';
import { type Chain, meaningOf } from './filterMeaning.ts';

const ADDRESSES = syntheticAddresses(6);
const SHAPE = { addresses: ADDRESSES, maxTransactions: 4, maxFrames: 4 };
/** Block ranges around the end of a segment of the index, and the first blocks. */
const RANGES = [
  [0, 20],
  [1012, 1036],
] as const;
/** Block numbers by hash. */
const NUMBERS = new Map<string, number>();
const CHAIN: Chain = {
  ...{ head: 1036, safe: 1030, finalized: 1026 },
  has: (number) => inRanges(number),
  numberOf: (hash) => NUMBERS.get(hash),
};
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
/** Error codes of rejected filters: invalid, above a limit, or for an unavailable block. */
const REFUSALS = new Set([-32602, -32005, -32001]);

const inRanges = (number: number): boolean => RANGES.some(([from, to]) => number >= from && number <= to);

export async function open(): Promise<Target> {
  const folder = mkdtempSync(join(tmpdir(), 'floodgate-fuzz-'));
  const store = openTraceStore(folder, { maxRecentPositions: 200 });
  const blocks = madeBlocks();
  for (const { header } of blocks) NUMBERS.set(header.hash, header.number);
  const traces = blocks.flatMap((block) => block.traces);
  // The index then has both merged lists on disk and recent ones in memory.
  for (const { header, traces: own } of blocks) await store.apply({ blocks: [indexBlock(header, own)] });
  const method = traceFilterOver(store);
  return {
    seeds: seeds(blocks.at(-1)?.header.hash ?? ''),
    dictionary: [
      ...[
        'fromBlock',
        'toBlock',
        'blockHash',
        'fromAddress',
        'toAddress',
        'mode',
        'after',
        'count',
        'intersection',
        'union',
      ],
      ...[
        'latest',
        'safe',
        'finalized',
        'earliest',
        'pending',
        '0x400',
        '0x3ff',
        '0x40c',
        '1036',
        ...ADDRESSES,
      ],
      ...['0x1fffffffffffff', '0x20000000000000', '0X1', '__proto__', 'constructor', 'null'],
    ],
    maxBytes: 3000,
    format: 'json',
    maxWork: 5_000_000,
    async run(input) {
      const params = paramsOf(input);
      if (params !== undefined) await compare(method, params, traces);
    },
    async close() {
      await store.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function compare(method: Method, params: readonly unknown[], traces: readonly Trace[]): Promise<void> {
  const meant = params.length > 1 ? undefined : meaningOf(params[0], CHAIN);
  const isRefused = meant === undefined || hasTooMany(traces, meant);
  const expected = isRefused ? undefined : JSON.stringify(referenceFilter(traces, meant));
  let answer: string;
  try {
    const room = { charge: () => true, credit: () => {}, freeConnection: () => {} };
    answer = textOf(await method.handle(params, { mayStream: false, room, limits: DEFAULT_LIMITS }));
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    must(REFUSALS.has(error.code), 'a rejection has one of its error codes', error.code);
    must(error.message.length < 600, 'an error message is short', error.message);
    must(expected === undefined, 'a valid filter is answered', error.message);
    return;
  }
  must(expected !== undefined, 'an invalid filter is rejected', params);
  must(answer === expected, "the result equals the plain filter's", { answer, expected });
}

function textOf(result: Result): string {
  must(result instanceof Uint8Array, 'the result is a byte array unless streaming is allowed');
  return Buffer.from(result).toString();
}

function paramsOf(input: Uint8Array): readonly unknown[] | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(input).toString());
    return Array.isArray(value) ? value : [value];
  } catch {
    return undefined;
  }
}

/** Returns trace_filter as the gateway serves it, but without nodes: a block outside the index is unavailable. */
function traceFilterOver(store: TraceStore): Method {
  const row = METHODS.find(({ name }) => name === 'trace_filter');
  if (row === undefined) throw new Error('METHODS has no trace_filter');
  const at = (number: number) => ({ number, hash: '0x', parentHash: '0x' });
  const heads = { latest: at(CHAIN.head), safe: at(CHAIN.safe), finalized: at(CHAIN.finalized) };
  const indexer = {
    lastHeads: heads,
    freshHeads: async () => heads,
    ensure: async (from: number, to: number) => {
      for (let number = from; number <= to; number++)
        if (!CHAIN.has(number)) throw new BlockUnavailableError(number);
    },
  };
  const finder = {
    async blockOfHash(hash: string) {
      const number = NUMBERS.get(hash);
      return number === undefined ? undefined : { number, hash };
    },
  };
  const index = { store, indexer, finder, maxAnswerBytes: MAX_ANSWER_BYTES };
  // trace_filter uses no other members of the services.
  return methodOf(row, { index } as unknown as Parameters<typeof methodOf>[1]);
}

function madeBlocks(): SyntheticBlock[] {
  const random = new Random(11);
  const blocks: SyntheticBlock[] = [];
  for (const [from, to] of RANGES)
    for (let number = from; number <= to; number++) {
      const parent = number === from ? undefined : blocks.at(-1)?.header.hash;
      // The genesis block has no traces.
      const shape = number === 0 ? { ...SHAPE, maxTransactions: 0 } : SHAPE;
      blocks.push(syntheticBlock(random, shape, { number, parentHash: parent }));
    }
  return blocks;
}

function seeds(hash: string): Buffer[] {
  const [one, two, three] = ADDRESSES;
  const filters: unknown[] = [
    [{}],
    [],
    [{ fromBlock: 'earliest', toBlock: '0x14', count: 5 }],
    [{ fromBlock: '0x3f4', toBlock: 'latest', fromAddress: [one], after: 3 }],
    [{ fromBlock: 1012, toBlock: 1036, fromAddress: [one, two], toAddress: [two, three], mode: 'union' }],
    [{ fromBlock: 'finalized', toBlock: 'safe', toAddress: one, mode: null, after: null }],
    [{ fromBlock: 1012, toBlock: 1036, fromAddress: [one], toAddress: [two], count: '0xc8' }],
    [{ fromBlock: 15, toBlock: 1014 }],
    [{ blockHash: hash, toAddress: [one, two], after: 1 }],
  ];
  return filters.map((filter) => Buffer.from(JSON.stringify(filter)));
}
