import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseTraceBlock } from '../../src/ethereum/traces/convert/index.ts';
import { call } from '../gateway/support/send.ts';
import { type Floodgate, startFloodgate } from '../support/startFloodgate.ts';
import { startPlaybackNode } from './playbackNode.ts';
import type { Player } from './player.ts';
import { type Exchange, erigonExchanges, sharedExchanges } from './recorded.ts';

type Json = Record<string, unknown>;
type Filter = Readonly<Record<string, unknown>>;

/**
 * Head of the fake node: above every recorded block (21,124,438 is the highest), below the block numbers that must
 * exceed any head.
 */
const HEAD = 21_200_000;
const PAGE = 200;

/** Recorded with Erigon's old default mode, union; requested here with an explicit mode. */
const RECORDED_AS_UNION = ['test_08.json', 'test_09.json', 'test_10.json'];
/** Old Erigon returned `[]` above the head and -32000 for a reversed range; the trace draft requires -32602. */
const REFUSED: Readonly<Record<string, RegExp>> = {
  'test_13.json': /fromBlock 7200003 is after toBlock 7200002/,
  'test_16.json': /fromBlock 68719476735 is after toBlock 7100009/,
  'test_22.json': /is after toBlock/,
  'test_23.json': /at most 800/, // above the head, and wider than 800 blocks
};
/** Requested for the latest block of that time; no answer is recorded. */
const WITHOUT_ANSWER = 'test_25.json';

/** Without the request for withdrawals, which Erigon returns as a transaction without a hash. */
const REPLAYS = sharedExchanges('trace_replayBlockTransactions_traceonly').filter(
  ({ params }) => params.length === 2,
);

/**
 * Returns a recorded answer in the canonical form: Parity's error texts, and null members of rewards (table A of the
 * facts). traceBlock.test.ts compares this converter with the same recordings.
 */
const canonical = (result: unknown): unknown => parseTraceBlock(structuredClone(result));
/**
 * Returns a recorded replay in the canonical form. Its frames have no members that name the block, which the converter
 * requires. Erigon omits `stateDiff` and `vmTrace` in these recordings.
 */
function canonicalReplay({ trace, ...replay }: Json): Json {
  const named = { blockHash: `0x${'b1'.repeat(32)}`, blockNumber: 1, transactionPosition: 0 };
  const transactionHash = replay['transactionHash'];
  const frames = canonical(
    (trace as Json[]).map((frame) => ({ ...frame, ...named, transactionHash })),
  ) as Json[];
  const names = [...Object.keys(named), 'transactionHash'];
  const bare = frames.map((frame) =>
    Object.fromEntries(Object.entries(frame).filter(([name]) => !names.includes(name))),
  );
  return { ...replay, stateDiff: null, trace: bare, vmTrace: null };
}

const nameOf = ({ file }: Exchange): string => file.split('/').at(-1) ?? '';

describe('recorded mainnet answers, played back as an upstream node', () => {
  const blocks = recordedBlocks();
  const known = new Set([...blocks.values()].flat().map((trace) => trace['transactionHash']));
  let player: Player;
  let floodgate: Floodgate;

  beforeAll(async () => {
    player = await startPlaybackNode(blocks, HEAD);
    floodgate = await startFloodgate({ upstream: player.url });
  });
  afterAll(async () => {
    await floodgate?.stop();
    await player?.stop();
  });

  test('trace_filter returns every recorded answer', async () => {
    const { gatewayUrl } = floodgate;
    let compared = 0;
    let tooMany = 0;
    for (const exchange of erigonExchanges('trace_filter')) {
      const name = nameOf(exchange);
      if (name === WITHOUT_ANSWER) continue;
      const filter = exchange.params[0] as Filter;
      const refusal = REFUSED[name];
      if (refusal !== undefined) {
        const { error } = (await call(gatewayUrl, 'trace_filter', filter)).json;
        expect([-32602, -32005], name).toContain(error.code);
        expect(error.message, name).toMatch(refusal);
        continue;
      }
      const asked = RECORDED_AS_UNION.includes(name) ? { ...filter, mode: 'union' } : filter;
      const expected = canonical(exchange.result) as unknown[];
      expect(await paged(gatewayUrl, asked), name).toEqual(expected);
      compared++;
      if (filter['count'] !== undefined) continue;
      // The request as recorded, without `count`: the client wants all matches.
      const { json } = await call(gatewayUrl, 'trace_filter', asked);
      if (expected.length <= PAGE) expect(json.result, name).toEqual(expected);
      else expect(json.error, name).toMatchObject({ code: -32005, data: { limit: PAGE } });
      if (expected.length > PAGE) tooMany++;
    }
    expect(compared).toBe(20);
    expect(tooMany).toBe(10);
  });

  test('trace_block returns every recorded block', async () => {
    const { gatewayUrl } = floodgate;
    let compared = 0;
    for (const { file, params, result } of erigonExchanges('trace_block')) {
      if (!Array.isArray(result)) continue;
      const { json } = await call(gatewayUrl, 'trace_block', params[0]);
      expect(json.result, file).toEqual(canonical(result));
      compared++;
    }
    expect(compared).toBe(28);
  });

  test('trace_transaction returns every recorded transaction', async () => {
    const { gatewayUrl } = floodgate;
    let compared = 0;
    for (const { file, params, result } of erigonExchanges('trace_transaction')) {
      const { json } = await call(gatewayUrl, 'trace_transaction', params[0]);
      expect(json.result, file).toEqual(known.has(params[0]) ? canonical(result) : null);
      if (known.has(params[0])) compared++;
    }
    expect(compared).toBe(47);
  });

  test.skipIf(REPLAYS.length === 0)(
    `trace_replayBlockTransactions returns every recorded block${REPLAYS.length === 0 ? ' (skipped: the recordings are not in ../shared/data)' : ''}`,
    async () => {
      const { gatewayUrl } = floodgate;
      let compared = 0;
      for (const { file, params, result } of REPLAYS) {
        if (!Array.isArray(result) || !blocks.has(Number(params[0]))) continue;
        const { json } = await call(gatewayUrl, 'trace_replayBlockTransactions', params[0], ['trace']);
        const expected = (result as Json[]).map((replay) => canonicalReplay(replay));
        expect(json.result, file).toEqual(expected);
        compared++;
      }
      expect(compared).toBe(22);
    },
  );

  test('trace_get returns every recorded frame, and null if null is recorded', async () => {
    const { gatewayUrl } = floodgate;
    let compared = 0;
    for (const { file, params, result } of erigonExchanges('trace_get')) {
      const { json } = await call(gatewayUrl, 'trace_get', ...params);
      const expected = result === null ? null : (canonical([result]) as unknown[])[0];
      expect(json.result, file).toEqual(known.has(params[0]) ? expected : null);
      if (known.has(params[0])) compared++;
    }
    expect(compared).toBe(33); // the transaction of test_34 is not recorded, so null is expected
  });
});

/** Returns all matches of a filter, or the requested part, in pages of the maximum size. */
async function paged(url: string, filter: Filter): Promise<unknown[]> {
  const traces: unknown[] = [];
  const start = Number(filter['after'] ?? 0);
  const wanted = Number(filter['count'] ?? Number.POSITIVE_INFINITY);
  for (;;) {
    const count = Math.min(PAGE, wanted - traces.length);
    const { json } = await call(url, 'trace_filter', { ...filter, after: start + traces.length, count });
    if (json.error !== undefined) throw new Error(`${JSON.stringify(filter)}: ${JSON.stringify(json.error)}`);
    traces.push(...json.result);
    if (json.result.length < count || traces.length === wanted) return traces;
  }
}

/**
 * Returns every completely recorded block (trace_block, or a range without addresses), and the blocks of recorded
 * transactions.
 */
function recordedBlocks(): Map<number, Json[]> {
  const blocks = new Map<number, Json[]>();
  for (const { params, result } of erigonExchanges('trace_filter')) {
    const filter = params[0] as Filter;
    if (!Array.isArray(result) || Object.keys(filter).some((key) => !key.endsWith('Block'))) continue;
    const byBlock = group(result as Json[]);
    for (const [number, traces] of byBlock) blocks.set(number, traces);
  }
  for (const { params, result } of erigonExchanges('trace_block'))
    if (Array.isArray(result) && (params.length === 1 || !blocks.has(Number(params[0]))))
      blocks.set(Number(params[0]), result as Json[]);
  const alone = new Map<number, Json[][]>();
  for (const { result } of erigonExchanges('trace_transaction')) {
    const [first] = Array.isArray(result) ? (result as Json[]) : [];
    if (first === undefined || blocks.has(numberOf(first))) continue;
    alone.set(numberOf(first), [...(alone.get(numberOf(first)) ?? []), result as Json[]]);
  }
  for (const [number, transactions] of alone) blocks.set(number, amongMadeUp(transactions));
  return blocks;
}

/**
 * Completes blocks of which only single transactions are recorded: each earlier transaction is a generated transfer
 * without value, so that the recorded ones have their recorded positions.
 */
function amongMadeUp(transactions: readonly Json[][]): Json[] {
  const byPosition = new Map(transactions.map((traces) => [positionOf(traces), traces]));
  const [first] = transactions[0] ?? [];
  return Array.from({ length: Math.max(...byPosition.keys()) + 1 }, (_, position) => {
    const nobody = `0x${'00'.repeat(20)}`;
    const action = { callType: 'call', from: nobody, gas: '0x0', input: '0x', to: nobody, value: '0x0' };
    const transactionHash = `0x${String(first?.['blockHash']).slice(10)}${position.toString(16).padStart(8, '0')}`;
    const result = { gasUsed: '0x0', output: '0x' };
    const madeUp = {
      ...first,
      error: undefined,
      action,
      result,
      subtraces: 0,
      traceAddress: [],
      type: 'call',
    };
    return byPosition.get(position) ?? [{ ...madeUp, transactionHash, transactionPosition: position }];
  }).flat();
}

const positionOf = (traces: readonly Json[]): number => Number(traces[0]?.['transactionPosition']);
const numberOf = (trace: Json): number => Number(trace['blockNumber']);

function group(traces: readonly Json[]): Map<number, Json[]> {
  const groups = new Map<number, Json[]>();
  for (const trace of traces) groups.set(numberOf(trace), [...(groups.get(numberOf(trace)) ?? []), trace]);
  return groups;
}
