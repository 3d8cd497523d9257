import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type SpoiltNode, startSpoiltNode } from '../gateway/support/spoiltNode.ts';
import { type Anvil, createTraffic, startAnvil } from '../support/anvil.ts';
import { plainFilter } from '../support/plainFilter.ts';
import { type Floodgate, startFloodgate } from '../support/startFloodgate.ts';
import { until } from '../support/until.ts';
import { ask } from '../traces/support/ask.ts';
import { readChain } from '../traces/support/nodeChain.ts';

/** What a client offers, as far as the proxy lets it through. */
interface Client {
  readonly version: string;
  readonly refuses: RegExp;
}

const PARITY_LIKE: Client = { version: 'OpenSomething/v1', refuses: /debug_trace/ };
const GETH_LIKE: Client = { version: 'OtherThing/v2', refuses: /"trace_block"/ };

describe('a node that becomes another client behind the same address', () => {
  let anvil: Anvil;
  let node: SpoiltNode;
  let floodgate: Floodgate;
  let client = PARITY_LIKE;

  beforeAll(async () => {
    anvil = await startAnvil();
    await grow(20);
    // A fake in part: the real anvil behind a proxy that tells another version and refuses some of its methods.
    node = await startSpoiltNode(anvil.url);
    node.spoil = ({ body, methods }, answer) => {
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

  test('is asked again what it offers, and indexed from in the way that it has now', async () => {
    expect(methodsFound()).toEqual(['trace_block']);
    for (const [now, method] of [
      [GETH_LIKE, 'callTracer'],
      [PARITY_LIKE, 'trace_block'],
    ] as const) {
      client = now;
      await grow(2);
      const chain = await readChain(anvil.url);
      await until('the index has the last block of the node', async () => {
        const { result } = await ask(floodgate.gatewayUrl, { count: 1 });
        return result?.[0]?.blockHash === chain.hashes[chain.head];
      });
      expect(methodsFound().at(-1)).toBe(method);
      const range = { fromBlock: chain.head - 1, toBlock: chain.head };
      const { result } = await ask(floodgate.gatewayUrl, range);
      const filter = {
        ...range,
        fromAddresses: [],
        toAddresses: [],
        mode: 'intersection',
        after: 0,
        count: 200,
      } as const;
      expect(framesOf(result)).toEqual(framesOf(plainFilter(chain.traces, filter)));
    }
  });
});

/** Without the gas of root frames, which the two ways tell differently (docs/nodes.md). */
const framesOf = (traces: unknown): unknown =>
  (traces as { traceAddress: number[]; result: object | null }[]).map((trace) =>
    trace.traceAddress.length === 0 && trace.result
      ? { ...trace, result: { ...trace.result, gasUsed: '' } }
      : trace,
  );
