import { afterAll, beforeAll, expect, test } from 'vitest';
import { type InterceptedNode, startInterceptedNode } from '../gateway/support/interceptedNode.ts';
import { call } from '../gateway/support/send.ts';
import { floodgate as run } from '../rules/support/command.ts';
import { type Anvil, createTraffic, startAnvil } from '../support/anvil.ts';
import { startFloodgate } from '../support/startFloodgate.ts';
import { readChain } from '../traces/support/nodeChain.ts';

let anvil: Anvil;
let node: InterceptedNode;

beforeAll(async () => {
  anvil = await startAnvil();
  await (await createTraffic({ url: anvil.url, seed: 17 })).run({ steps: 10 });
  // A proxy of a real anvil that rejects batches, trace_block and debug_traceBlockByHash.
  node = await startInterceptedNode(anvil.url);
  node.intercept = ({ body }, answer) => {
    const request = JSON.parse(body);
    const refuse = (id: unknown, code: number, message: string): string =>
      JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } });
    if (Array.isArray(request)) return refuse(null, -32_600, 'batch requests are not supported');
    if (['trace_block', 'debug_traceBlockByHash'].includes(request.method))
      return refuse(request.id, -32_601, `the method ${request.method} does not exist/is not available`);
    return answer();
  };
});
afterAll(() => Promise.all([node.stop(), anvil.stop()]));

test('a node without batches that traces only by number is indexed and relayed', async () => {
  const doctor = await run(['doctor', '--upstream', node.url]);
  expect(doctor).toMatchObject({ status: 0, stdout: expect.stringContaining('callTracer: works') });
  const floodgate = await startFloodgate({ upstream: node.url });
  try {
    const { head, traces } = await readChain(anvil.url);
    const { json } = await call(floodgate.gatewayUrl, 'trace_filter', {
      fromBlock: 1,
      toBlock: head,
      count: 200,
    });
    const places = (list: readonly { transactionHash: unknown; traceAddress: unknown; action: unknown }[]) =>
      list.map(({ transactionHash, traceAddress, action }) => ({ transactionHash, traceAddress, action }));
    expect(places(json.result)).toEqual(places(traces.slice(0, 200)));
    expect((await call(floodgate.gatewayUrl, 'eth_blockNumber')).json.result).toBe(`0x${head.toString(16)}`);
    const metrics = await (await fetch(`${floodgate.url}/metrics`)).text();
    expect(metrics).toMatch(/floodgate_upstream_up\{[^}]*node="node-1"[^}]*\} 1/);
  } finally {
    await floodgate.stop();
  }
});
