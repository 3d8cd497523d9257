import { mkdtempSync, rmSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { connect } from '../support/anvil.ts';
import { type SharedChain, startSharedChain } from '../support/sharedChain.ts';
import { startInProcess } from '../support/startInProcess.ts';

import { until } from '../support/until.ts';
import { type InterceptedNode, type Interceptor, startInterceptedNode } from './support/interceptedNode.ts';
import { call } from './support/send.ts';

const TRACERS = ['callTracer', 'flatCallTracer', 'prestateTracer', '4byteTracer'];
const CALL_TRACER = { tracer: 'callTracer' };
/** Ingest and polls use other ids. */
const isTrace = ({ body }: { readonly body: string }): boolean =>
  body.startsWith('{"jsonrpc":"2.0","id":1,"method":"debug_trace');

describe('debug_trace methods', () => {
  let chain: SharedChain;
  let nodes: readonly InterceptedNode[];
  const stops: (() => Promise<void>)[] = [];

  beforeAll(async () => {
    chain = await startSharedChain();
    nodes = await Promise.all([1, 2].map(() => startInterceptedNode(chain.anvil.url)));
  });
  afterEach(async () => {
    for (const node of nodes) node.intercept = undefined;
    for (const stop of stops.splice(0)) await stop();
  });
  afterAll(async () => {
    await Promise.all(nodes.map((node) => node.stop()));
    await chain?.anvil.stop();
  });

  async function start(
    count: number,
    flags: Record<string, string | readonly string[]> = {},
  ): Promise<string> {
    const upstream = nodes.slice(0, count).map(({ url }) => url);
    const tracers = { 'gateway.debugTracers': TRACERS, 'index.finality': 'depth:2' };
    const server = await startInProcess({ upstream, ...tracers, ...flags }, {});
    stops.push(() => server.stop());
    // The blocks of the tests are then in the index.
    await call(server.gatewayUrl, 'trace_filter', { fromBlock: '0x1', toBlock: '0x3', count: 1 });
    return server.gatewayUrl;
  }

  const intercept = (interceptor: Interceptor): void => {
    for (const node of nodes) node.intercept = interceptor;
  };
  /** Lets each trace by the nodes end with `spoil`, and counts the traces. */
  function spoilTraces(spoil: Interceptor): { count: number; readonly bodies: string[] } {
    const traced = { count: 0, bodies: [] as string[] };
    intercept((request, answer, response) => {
      if (!isTrace(request)) return answer();
      traced.count++;
      traced.bodies.push(request.body);
      return spoil(request, answer, response);
    });
    return traced;
  }

  it('are not served unless the operator lists tracers', async () => {
    const gateway = await start(1, { 'gateway.debugTracers': [] });
    expect((await call(gateway, 'debug_traceTransaction', `0x${'1'.repeat(64)}`, CALL_TRACER)).status).toBe(
      403,
    );
  });

  it('return what the node returns, for every tracer', async () => {
    const gateway = await start(1);
    const direct = connect(chain.anvil.url);
    const block = await direct.call<{ hash: string; transactions: string[] }>(
      'eth_getBlockByNumber',
      '0x2',
      false,
    );
    for (const tracer of TRACERS) {
      const calls: [string, ...unknown[]][] = [
        ['debug_traceTransaction', block.transactions[0], { tracer }],
        ['debug_traceBlockByNumber', '0x2', { tracer }],
        ['debug_traceBlockByHash', block.hash, { tracer }],
        ['debug_traceCall', { to: `0x${'1'.repeat(40)}` }, 'latest', { tracer }],
      ];
      for (const [method, ...params] of calls) {
        const { json } = await call(gateway, method, ...params);
        // anvil rejects some tracers in debug_traceCall.
        if (tracer === 'callTracer') expect(json).toHaveProperty('result');
        expect(json, `${method} ${tracer}`).toEqual((await call(chain.anvil.url, method, ...params)).json);
      }
    }
  });

  it('cache traces of final blocks that equal the index, without a second node', async () => {
    const gateway = await start(2);
    const traced = spoilTraces((_request, answer) => answer());
    for (let number = 1; number <= chain.head - 2; number++) {
      const hex = `0x${number.toString(16)}`;
      const first = await call(gateway, 'debug_traceBlockByNumber', hex, CALL_TRACER);
      const again = await call(gateway, 'debug_traceBlockByNumber', number, {
        ...CALL_TRACER,
        timeout: '1s',
        tracerConfig: { onlyTopCall: false, withLog: null, timeout: '2s' },
        reexec: 128,
      });
      expect(again.headers['x-floodgate-cache'], hex).toBe('hit');
      expect(again.text).toBe(first.text);
    }
    expect(traced.count).toBe(chain.head - 2);
  });

  it('keep compared results after a restart, on disk', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'floodgate-debug-'));
    const trace = (gateway: string) => call(gateway, 'debug_traceBlockByNumber', '0x3', CALL_TRACER);
    const first = await trace(await start(1, { dataDir }));
    await stops.pop()?.();
    const traced = spoilTraces(() => '{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"oops"}}');
    const gateway = await start(1, { dataDir });
    expect((await trace(gateway)).text).toBe(first.text);
    expect(
      (await call(gateway, 'debug_traceBlockByNumber', '0x3', { tracer: 'prestateTracer' })).json,
    ).toMatchObject({
      error: { code: -32_000, message: 'oops' },
    });
    expect(traced.count).toBe(1);
    rmSync(dataDir, { recursive: true, force: true });
  });

  it('ask a second node if the frames differ from the index, and cache nothing wrong', async () => {
    const gateway = await start(2);
    const lie = (text: string): string => text.replace('"gasUsed"', '"error":"out of gas","gasUsed"');
    const traced = spoilTraces(async (_request, answer) =>
      traced.count === 1 ? lie(await answer()) : answer(),
    );
    const trace = () => call(gateway, 'debug_traceBlockByNumber', '0x3', CALL_TRACER);
    const expected = (await call(chain.anvil.url, 'debug_traceBlockByNumber', '0x3', CALL_TRACER)).json;
    expect((await trace()).json).toEqual(expected);
    expect(traced.count).toBe(2);
    const again = await trace();
    expect([again.headers['x-floodgate-cache'], again.json]).toEqual(['hit', expected]);
  });

  it('are not cached if every node lies, or a transaction has an error', async () => {
    const gateway = await start(1);
    const traced = spoilTraces(async (_request, answer) => {
      const { result, ...rest } = JSON.parse(await answer());
      const [first, ...others] = result as { txHash: string }[];
      return JSON.stringify({
        ...rest,
        result: [{ txHash: first?.txHash, error: 'execution timeout' }, ...others],
      });
    });
    for (const tracer of ['callTracer', 'prestateTracer'])
      for (let i = 0; i < 2; i++) {
        const { json, headers } = await call(gateway, 'debug_traceBlockByNumber', '0x3', { tracer });
        expect([headers['x-floodgate-cache'], json.result[0].error]).toEqual(['miss', 'execution timeout']);
      }
    expect(traced.count).toBe(4);
  });

  it('are sent with the timeout of the gateway, and never with other options', async () => {
    const gateway = await start(1);
    const traced = spoilTraces(() => '{"jsonrpc":"2.0","id":1,"result":[]}');
    const options = {
      ...CALL_TRACER,
      reexec: 1e6,
      enableMemory: true,
      tracerConfig: { timeout: '9h', withLog: true },
    };
    await call(gateway, 'debug_traceBlockByNumber', '0x3', options);
    await call(gateway, 'debug_traceBlockByNumber', '0x3', { ...options, timeout: '1.5s' });
    await call(gateway, 'debug_traceCall', {}, '0x3', { ...CALL_TRACER, blockOverrides: { time: '0x5' } });
    const sent = traced.bodies.map((body) => JSON.parse(body).params.at(-1));
    const expected = { ...CALL_TRACER, tracerConfig: { withLog: true } };
    expect(sent).toEqual([
      { ...expected, timeout: '5000ms' },
      { ...CALL_TRACER, blockOverrides: { time: '0x5' }, timeout: '5000ms' },
    ]);
  });

  it('share one trace if they are equal, and debug_traceCall is never cached', async () => {
    const gateway = await start(1);
    let release: () => void = () => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    const traced = spoilTraces(async (_request, answer) => released.then(answer));
    const ask = () => call(gateway, 'debug_traceCall', {}, '0x3', CALL_TRACER);
    const asked = [ask(), ask(), ask()];
    await until('the trace to arrive', () => traced.count === 1);
    release();
    const results = await Promise.all(asked);
    expect(new Set(results.map(({ text }) => text)).size).toBe(1);
    await ask();
    expect(traced.count).toBeGreaterThan(1);
    expect(results.map(({ headers }) => headers['x-floodgate-cache'])).not.toContain('hit');
  });

  it('keep a slot at a node that never answers, and fail at once while it works', async () => {
    const gateway = await start(1, { 'gateway.requestTimeoutMs': '500' });
    const hung: ServerResponse[] = [];
    let count = 0;
    intercept((request, answer, response) => {
      // The traces of so many transactions end long after the test.
      if (request.body.includes('eth_getBlockTransactionCount'))
        return '{"jsonrpc":"2.0","id":1,"result":"0x2710"}';
      if (!isTrace(request)) return answer();
      count++;
      hung.push(response);
      return undefined;
    });
    const trace = (number: number) =>
      call(gateway, 'debug_traceBlockByNumber', `0x${number.toString(16)}`, CALL_TRACER);
    const slow = await Promise.all([trace(1), trace(2)]);
    for (const { json } of slow)
      expect(json.error).toMatchObject({ code: -32_005, message: expect.stringContaining('continues it') });
    // An equal request fails at once; another one waits for a slot in vain.
    expect((await trace(1)).json.error.message).toContain('continues it');
    const waited = await trace(3);
    expect([waited.status, waited.json.error.code]).toEqual([429, -32_005]);
    expect(count).toBe(2);
    for (const node of nodes) node.intercept = undefined;
    for (const response of hung) response.end('{"jsonrpc":"2.0","id":1,"result":[]}');
    await until('a slot to be free', async () => (await trace(3)).json.result !== undefined);
    expect((await trace(1)).json.result.length).toBeGreaterThan(0);
  });

  it('are retried one time, and errors of a missing object name it', async () => {
    const gateway = await start(2);
    const traced = spoilTraces(() => '{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"oops"}}');
    const { json } = await call(gateway, 'debug_traceBlockByNumber', '0x3', CALL_TRACER);
    expect(json.error).toMatchObject({ code: -32_603, message: 'oops' });
    expect(traced.count).toBe(2);
    const unknown = `0x${'9'.repeat(64)}`;
    const missing: [string, unknown, string][] = [
      ['debug_traceTransaction', unknown, `transaction ${unknown} not found`],
      ['debug_traceBlockByHash', unknown, `block ${unknown} not found`],
      ['debug_traceBlockByNumber', '0xffffff', 'block 16777215 does not exist yet'],
    ];
    for (const [method, param, message] of missing) {
      const { error } = (await call(gateway, method, param, CALL_TRACER)).json;
      expect(error).toMatchObject({ code: -32_001, message: expect.stringContaining(message) });
    }
    expect(traced.count).toBe(2);
  });
});
