import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseTraceBlock } from '../../src/ethereum/traces/convert/index.ts';
import { call } from '../gateway/support/send.ts';
import { type Floodgate, startFloodgate } from '../support/startFloodgate.ts';
import { startPlaybackNode } from './playbackNode.ts';
import type { Player } from './player.ts';
import { type Exchange, erigonExchanges } from './recorded.ts';

type Json = Record<string, unknown>;
type Filter = Readonly<Record<string, unknown>>;

/** The player's head: past every recorded block (21,124,438 is the highest), below the bounds that are past any head. */
const HEAD = 21_200_000;
const PAGE = 200;

/** Recorded with Erigon's old default mode, union: they ask for it by its name here. */
const RECORDED_AS_UNION = ['test_08.json', 'test_09.json', 'test_10.json'];
/** Old Erigon answered `[]` past the head and -32000 for a reversed range: -32602 by the draft that we follow. */
const REFUSED: Readonly<Record<string, RegExp>> = {
  'test_13.json': /fromBlock 7200003 is after toBlock 7200002/,
  'test_16.json': /fromBlock 68719476735 is after toBlock 7100009/,
  'test_22.json': /is after toBlock/,
  'test_23.json': /at most 800/, // past the head, and by then too wide for our limit
};
/** Asked of whatever was the latest block then: no answer is recorded. */
const WITHOUT_ANSWER = 'test_25.json';

/**
 * What a recorded answer is in the canonical form: error texts in Parity's words, null members of rewards present (table A
 * of the facts). The converter that does this is held against the same recordings in traceBlock.test.ts.
 */
const canonical = (result: unknown): unknown => parseTraceBlock(structuredClone(result));
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

  test('trace_filter gives every recorded answer', async () => {
    const { gatewayUrl } = floodgate;
    let compared = 0;
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
      expect(await paged(gatewayUrl, asked), name).toEqual(canonical(exchange.result));
      compared++;
    }
    expect(compared).toBe(20);
  });

  test('trace_block gives every recorded block', async () => {
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

  test('trace_transaction gives every recorded transaction', async () => {
    const { gatewayUrl } = floodgate;
    let compared = 0;
    for (const { file, params, result } of erigonExchanges('trace_transaction')) {
      const { json } = await call(gatewayUrl, 'trace_transaction', params[0]);
      expect(json.result, file).toEqual(known.has(params[0]) ? canonical(result) : null);
      if (known.has(params[0])) compared++;
    }
    expect(compared).toBe(47);
  });

  test('trace_get gives every recorded frame, and null where null is recorded', async () => {
    const { gatewayUrl } = floodgate;
    let compared = 0;
    for (const { file, params, result } of erigonExchanges('trace_get')) {
      const { json } = await call(gatewayUrl, 'trace_get', ...params);
      const expected = result === null ? null : (canonical([result]) as unknown[])[0];
      expect(json.result, file).toEqual(known.has(params[0]) ? expected : null);
      if (known.has(params[0])) compared++;
    }
    expect(compared).toBe(33); // of test_34 no transaction is recorded: null, as it says
  });
});

/** All that a filter matches, or the part of it that it asks for, in pages as large as one answer may be. */
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

/** Every block that is recorded whole, by trace_block or a range without addresses, and those of recorded transactions. */
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
 * Of some blocks only single transactions are recorded: the transactions before them are made up, each a transfer of
 * nothing, so that the recorded ones stand at their recorded positions.
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
