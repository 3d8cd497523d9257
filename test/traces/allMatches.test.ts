import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MAX_COUNT, type Trace } from '../../src/ethereum/traces/index.ts';
import { send } from '../gateway/support/send.ts';
import { openWebSocket } from '../gateway/support/webSocketClient.ts';
import { canListProcesses } from '../server/support/processes.ts';
import { startWorkersServer } from '../server/support/workersServer.ts';
import { type Anvil, createTraffic, startAnvil } from '../support/anvil.ts';
import { type Floodgate, startFloodgate } from '../support/startFloodgate.ts';
import { until } from '../support/until.ts';
import { callTraceFilter } from './support/callTraceFilter.ts';
import { type NodeChain, readChain } from './support/nodeChain.ts';

const BLOCKS = 60;
const TOO_MANY = {
  code: -32005,
  message: 'more than 200 traces match: page with `count` and `after`',
  data: { limit: MAX_COUNT },
};

/** The request of a public bug report, in which 200 of 572 traces were returned. */
const AS_REPORTED = { fromBlock: '0x1', toBlock: '0x32', fromAddress: [], toAddress: [], mode: 'union' };

let anvil: Anvil;
let chain: NodeChain;
let traces: readonly Trace[];
beforeAll(async () => {
  anvil = await startAnvil();
  await (await createTraffic({ url: anvil.url, seed: 35 })).run({ steps: BLOCKS });
  chain = await readChain(anvil.url);
  traces = chain.traces;
  expect(traces.length).toBeGreaterThan(2 * MAX_COUNT);
});
afterAll(() => anvil?.stop());

const INDEX = ['--index-from', '0', '--index-poll-interval-ms', '50'];
const KINDS = [
  ['one process', () => startFloodgate({ upstream: anvil.url, args: INDEX })],
  ['workers', () => startWorkersServer({ upstream: anvil.url, args: INDEX }, 2)],
] as const;

describe.each(KINDS)('trace_filter without count, %s', (kind, start) => {
  const isSkipped = kind === 'workers' && !canListProcesses;
  let floodgate: Floodgate;
  beforeAll(async () => {
    if (isSkipped) return;
    floodgate = await start();
    await until('the last block to be indexed', async () => {
      const { result } = await callTraceFilter(floodgate.gatewayUrl, { count: 1 });
      return result?.[0]?.blockHash === chain.hashes[chain.head];
    });
  });
  afterAll(() => floodgate?.stop());
  const asked = (filter: object) =>
    callTraceFilter(floodgate.gatewayUrl, { fromBlock: 0, toBlock: chain.head, ...filter });

  it.skipIf(isSkipped)('returns -32005 and no partial result if more than 200 traces match', async () => {
    expect((await asked({ toBlock: 'latest' })).error).toEqual(TOO_MANY);
    expect((await asked({ count: null })).error).toEqual(TOO_MANY);
    const toBlock = `0x${chain.head.toString(16)}`;
    expect((await callTraceFilter(floodgate.gatewayUrl, { ...AS_REPORTED, toBlock })).error).toEqual(
      TOO_MANY,
    );
    const after = traces.length - MAX_COUNT;
    expect((await asked({ after: after - 1 })).error).toEqual(TOO_MANY);
  });

  it.skipIf(isSkipped)('returns all matches from `after` on if there are at most 200', async () => {
    for (const left of [MAX_COUNT, 1, 0]) {
      const { result } = await asked({ after: traces.length - left });
      expect(result).toEqual(traces.slice(traces.length - left));
    }
    expect((await asked({ toBlock: 1 })).result).toEqual(
      traces.filter(({ blockNumber }) => blockNumber <= 1),
    );
  });

  it.skipIf(isSkipped)('counts matches of fromAddress, of both addresses and of mode union', async () => {
    const addresses = [
      ...new Set(
        traces.flatMap((trace) => (trace.type === 'call' ? [trace.action.from, trace.action.to] : [])),
      ),
    ];
    const lists = [{ fromAddress: addresses }, { fromAddress: addresses, toAddress: addresses }];
    for (const filter of [...lists, { ...lists[1], mode: 'union' }])
      expect((await asked(filter)).error).toEqual(TOO_MANY);
    const [first] = addresses;
    const { result, error } = await asked({ fromAddress: first, toAddress: first });
    expect(error).toBeUndefined();
    expect(result?.length).toBeLessThanOrEqual(MAX_COUNT);
  });

  it.skipIf(isSkipped)('returns pages with a count, and [] for a count of 0', async () => {
    const pages = [];
    for (let after = 0; ; after += MAX_COUNT) {
      const { result = [] } = await asked({ after, count: MAX_COUNT });
      pages.push(...result);
      if (result.length < MAX_COUNT) break;
    }
    expect(pages).toEqual(traces);
    expect((await asked({ count: 0 })).result).toEqual([]);
  });

  it.skipIf(isSkipped)(
    'fails only its entry of a batch, and returns the same error over a WebSocket',
    async () => {
      const request = (id: number, filter: object) => ({
        jsonrpc: '2.0',
        id,
        method: 'trace_filter',
        params: [{ fromBlock: 0, toBlock: chain.head, ...filter }],
      });
      const body = [request(1, { after: traces.length - 1 }), request(2, {}), request(3, { count: 1 })];
      const { status, json } = await send(floodgate.gatewayUrl, { body });
      expect(status).toBe(200);
      expect(json).toEqual([
        { jsonrpc: '2.0', id: 1, result: traces.slice(-1) },
        { jsonrpc: '2.0', id: 2, error: TOO_MANY },
        { jsonrpc: '2.0', id: 3, result: traces.slice(0, 1) },
      ]);
      const socket = await openWebSocket(floodgate.gatewayUrl);
      try {
        const answer = await socket.call('trace_filter', { fromBlock: 0, toBlock: chain.head });
        expect(answer.error).toEqual(TOO_MANY);
      } finally {
        socket.close();
      }
    },
  );
});
