import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type InterceptedNode, startInterceptedNode } from '../gateway/support/interceptedNode.ts';
import { call } from '../gateway/support/send.ts';
import { floodgate as run } from '../rules/support/command.ts';
import { SCRIPT_BLOCKS, startAnvil } from '../support/anvil.ts';
import { gethBinary, NO_GETH, startGeth } from '../support/geth.ts';
import { startFloodgate } from '../support/startFloodgate.ts';
import { startInProcess } from '../support/startInProcess.ts';
import { type IdenticalTraffic, sendIdenticalTraffic } from './sameTraffic.ts';

/** Transactions that anvil 1.7.1 traces incorrectly (docs/internals/decisions/development-chain.md). */
const WRONG_IN_ANVIL = new Set(['selfdestruct to itself of an older contract']);

interface Served {
  readonly blockNumber: number;
  readonly transactionHash: string;
  readonly traceAddress: readonly number[];
  readonly result: { readonly gasUsed: string } | null;
}

const binary = gethBinary();

describe.skipIf(binary === undefined)(`trace_filter with any node${binary ? '' : ` (${NO_GETH})`}`, () => {
  const stops: Array<() => Promise<unknown>> = [];
  let same: IdenticalTraffic;
  let anvilUrl = '';
  let gethUrl = '';
  let anvil: Served[] = [];

  beforeAll(async () => {
    const nodes = await Promise.all([startAnvil(), startGeth(binary ?? '')]);
    stops.push(...nodes.map((node) => () => node.stop()));
    [anvilUrl, gethUrl] = nodes.map(({ url }) => url) as [string, string]; // two nodes were started
    same = await sendIdenticalTraffic({ anvil: nodes[0], geth: nodes[1], seed: 5, steps: SCRIPT_BLOCKS });
    anvil = await servedFor(anvilUrl, 'trace_block');
  });
  afterAll(() => Promise.all(stops.map((stop) => stop())));

  test('serves the same traces from geth with callTracer as from anvil', async () => {
    const geth = await servedFor(gethUrl, 'callTracer');
    expect(geth.length).toBeGreaterThan(100);
    expect(comparable(geth)).toEqual(comparable(anvil));
  });

  test('caches results of the tracers of geth, because they equal the index', async () => {
    const nodes = await Promise.all([1, 2].map(() => startInterceptedNode(gethUrl)));
    const options = { 'index.finality': 'depth:1', 'gateway.debugTracers': ['callTracer', 'flatCallTracer'] };
    const server = await startInProcess({ upstream: nodes.map(({ url }) => url), ...options }, {});
    stops.unshift(() => server.stop(), ...nodes.map((node) => () => node.stop()));
    let count = 0;
    for (const node of nodes)
      node.intercept = ({ body }, answer) => {
        if (body.startsWith('{"jsonrpc":"2.0","id":1,"method":"debug_trace')) count++;
        return answer();
      };
    const head = Number((await call(gethUrl, 'eth_blockNumber')).json.result);
    const numbers = Array.from({ length: head - 1 }, (_, i) => `0x${(i + 1).toString(16)}`);
    await call(server.gatewayUrl, 'trace_filter', { fromBlock: '0x1', toBlock: numbers.at(-1), count: 1 });
    const flat = { tracer: 'flatCallTracer', tracerConfig: { includePrecompiles: true } };
    for (const tracer of [{ tracer: 'callTracer' }, flat])
      for (const number of numbers) {
        const { json } = await call(server.gatewayUrl, 'debug_traceBlockByNumber', number, tracer);
        expect(json.result, `${tracer.tracer} ${number}`).toBeInstanceOf(Array);
      }
    // A result that differs from the index would be requested from the second node too.
    expect(count).toBe(2 * numbers.length);
  });

  test('doctor reports the trace methods, reach and inaccuracies of geth', async () => {
    const { status, stdout } = await run(['doctor', '--upstream', gethUrl]);
    expect(status).toBe(0);
    expect(stdout).toMatch(/Client: Geth\/v1/);
    expect(stdout).toMatch(/trace_block: not offered.*\n.*callTracer: works\n.*flatCallTracer: works/);
    expect(stdout).toContain(
      'Rules: the node reports those of osaka for blocks since timestamp 0 (eth_config)',
    );
    expect(stdout).toMatch(/Floodgate would use callTracer\n {2}Reach: back to block 1\n/);
    expect(stdout).toMatch(
      /Not exact: gasUsed of a root frame, which is too low if gas was refunded or the gas floor of Prague/,
    );
  });

  test('uses flatCallTracer with a geth without callTracer', async () => {
    const geth = await servedFor(await without(gethUrl, '"callTracer"'), 'flatCallTracer');
    expect(comparable(geth)).toEqual(comparable(anvil));
  });

  test('uses callTracer with an anvil without trace_block', async () => {
    const served = await servedFor(await without(anvilUrl, 'trace_block'), 'callTracer');
    expect(comparable(served)).toEqual(comparable(anvil));
  });

  test('returns -32001 and logs the reason with a node without trace methods', async () => {
    const url = await without(gethUrl, 'debug_trace');
    const floodgate = await startFloodgate({ upstream: url, whenListening: true });
    try {
      const { json } = await call(floodgate.gatewayUrl, 'trace_filter', {
        fromBlock: '0x1',
        toBlock: '0x1',
      });
      expect(json.error.code).toBe(-32001);
      expect(floodgate.output()).toMatch(/supports no known trace method: trace_block: not offered/);
    } finally {
      await floodgate.stop();
    }
  });

  /** Starts a proxy of a real node that rejects calls whose JSON contains `part`; returns its URL. */
  async function without(url: string, part: string): Promise<string> {
    const spoilt: InterceptedNode = await startInterceptedNode(url);
    stops.push(() => spoilt.stop());
    const asked = (body: string): boolean => body.includes(part);
    spoilt.intercept = ({ body }, answer) => {
      if (!asked(body)) return answer();
      const error = { code: -32_601, message: `the method ${part.replaceAll('"', '')} does not exist` };
      const refuse = ({ id }: { id: number }): object => ({ jsonrpc: '2.0', id, error });
      const request = JSON.parse(body);
      return JSON.stringify(Array.isArray(request) ? request.map(refuse) : refuse(request));
    };
    return spoilt.url;
  }

  /** Returns all traces that Floodgate serves from a node. */
  async function servedFor(url: string, traceMethod: string): Promise<Served[]> {
    const floodgate = await startFloodgate({ upstream: url });
    try {
      const traces: Served[] = [];
      const { json } = await call(floodgate.gatewayUrl, 'eth_blockNumber');
      for (;;) {
        const filter = { fromBlock: '0x0', toBlock: json.result, after: traces.length, count: 200 };
        const answer = await call(floodgate.gatewayUrl, 'trace_filter', filter);
        if (answer.json.error) throw new Error(JSON.stringify(answer.json.error));
        traces.push(...answer.json.result);
        if (answer.json.result.length === 0) break;
      }
      expect(floodgate.output()).toContain(`"traceMethod":"${traceMethod}"`);
      return traces;
    } finally {
      await floodgate.stop();
    }
  }

  /** Removes block hashes and positions, which differ between the nodes, and the gasUsed of root frames. */
  function comparable(traces: readonly Served[]): unknown[] {
    return traces
      .filter(({ transactionHash }) => !WRONG_IN_ANVIL.has(same.about.get(transactionHash) ?? ''))
      .map((trace) => {
        const isRoot = trace.traceAddress.length === 0;
        const result = trace.result && isRoot ? { ...trace.result, gasUsed: undefined } : trace.result;
        return { ...trace, result, blockNumber: 0, blockHash: '', transactionPosition: 0 };
      });
  }
});
