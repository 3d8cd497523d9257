import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { connect } from '../support/anvil.ts';
import { type SharedChain, startSharedChain } from '../support/sharedChain.ts';
import { startInProcess } from '../support/startInProcess.ts';

import { type InterceptedNode, type Interceptor, startInterceptedNode } from './support/interceptedNode.ts';
import { call } from './support/send.ts';

const TRACERS = ['callTracer', 'flatCallTracer', 'prestateTracer', '4byteTracer'];
const CALL_TRACER = { tracer: 'callTracer' };
const isTrace = ({ methods: [method = ''], body }: { methods: readonly string[]; body: string }): boolean =>
  method.startsWith('debug_trace') && body.includes('"timeout"');

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
});
