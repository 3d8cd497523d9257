import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type InterceptedNode, startInterceptedNode } from '../gateway/support/interceptedNode.ts';
import { type Anvil, createTraffic, startAnvil } from '../support/anvil.ts';
import { referenceFilter } from '../support/plainFilter.ts';
import { type Floodgate, startFloodgate } from '../support/startFloodgate.ts';
import { until } from '../support/until.ts';
import { callTraceFilter } from '../traces/support/callTraceFilter.ts';
import { readChain } from '../traces/support/nodeChain.ts';

/** An emulated client: the version that the proxy reports and the calls that it rejects. */
interface Client {
  readonly version: string;
  readonly refuses: RegExp;
}

const PARITY_LIKE: Client = { version: 'OpenSomething/v1', refuses: /debug_trace/ };
const GETH_LIKE: Client = { version: 'OtherThing/v2', refuses: /"trace_block"/ };

describe('a node whose client changes at the same address', () => {
  let anvil: Anvil;
  let node: InterceptedNode;
  let floodgate: Floodgate;
  let client = PARITY_LIKE;

  beforeAll(async () => {
    anvil = await startAnvil();
    await grow(20);
    // A proxy of a real anvil that reports another version and rejects some methods.
    node = await startInterceptedNode(anvil.url);
    node.intercept = ({ body, methods }, answer) => {
      const request = JSON.parse(body);
      if (methods.includes('web3_clientVersion'))
        return JSON.stringify({ jsonrpc: '2.0', id: request.id, result: client.version });
      if (!client.refuses.test(body)) return answer();
      const refuse = ({ id, method }: { id: number; method: string }): object => {
        const error = { code: -32_601, message: `the method ${method} does not exist/is not available` };
        return { jsonrpc: '2.0', id, error };
      };
      return JSON.stringify(Array.isArray(request) ? request.map(refuse) : refuse(request));
    };
    floodgate = await startFloodgate({ upstream: node.url, args: ['--index-poll-interval-ms', '50'] });
  });
  afterAll(async () => {
    await floodgate?.stop();
    await Promise.all([node?.stop(), anvil?.stop()]);
  });

  const grow = async (steps: number) => (await createTraffic({ url: anvil.url, seed: 14 })).run({ steps });

  const methodsFound = (): string[] =>
    [...floodgate.output().matchAll(/"traceMethod":"(\w+)".*upstream trace method detected/g)].map(
      ([, method = '']) => method,
    );

  test('is probed again and indexed with its new trace method', async () => {
    expect(methodsFound()).toEqual(['trace_block']);
    for (const [now, method] of [
      [GETH_LIKE, 'callTracer'],
      [PARITY_LIKE, 'trace_block'],
    ] as const) {
      client = now;
      await grow(2);
      const chain = await readChain(anvil.url);
      await until('the head of the node to be indexed', async () => {
        const { result } = await callTraceFilter(floodgate.gatewayUrl, { count: 1 });
        return result?.[0]?.blockHash === chain.hashes[chain.head];
      });
      expect(methodsFound().at(-1)).toBe(method);
      const range = { fromBlock: chain.head - 1, toBlock: chain.head };
      const { result } = await callTraceFilter(floodgate.gatewayUrl, range);
      const filter = {
        ...range,
        fromAddresses: [],
        toAddresses: [],
        mode: 'intersection',
        after: 0,
        count: 200,
      } as const;
      expect(framesOf(result)).toEqual(framesOf(referenceFilter(chain.traces, filter)));
    }
  });
});

/** Removes the gasUsed of root frames, which differs between the two trace methods (docs/reference/nodes.md). */
const framesOf = (traces: unknown): unknown =>
  (traces as { traceAddress: number[]; result: object | null }[]).map((trace) =>
    trace.traceAddress.length === 0 && trace.result
      ? { ...trace, result: { ...trace.result, gasUsed: '' } }
      : trace,
  );
