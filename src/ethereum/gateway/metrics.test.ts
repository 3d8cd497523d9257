import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { RpcError } from '../jsonrpc/index.ts';
import { NodeError } from '../nodes/index.ts';
import { GatewayMetrics } from './metrics.ts';

it('the metrics of the gateway count each event of a node in its own series', async () => {
  const registry = new Registry();
  const metrics = new GatewayMetrics(registry);
  const call = { network: 'n', node: 'a', method: 'eth_call' };
  metrics.nodeAnswered(call, 1_500);
  metrics.nodeFailed(call, new NodeError('nonsense', 'no JSON'));
  metrics.invalidResponse(call);
  metrics.disagreed(call);
  metrics.hedged({ network: 'n', node: 'a', method: 'eth_call' });
  metrics.inexactGas({ network: 'n', node: 'a' }, 2);
  metrics.headWentBack('n');
  const lines = (await registry.metrics()).split('\n');
  const ofCall = 'network="n",node="a",method="eth_call"';
  expect(lines.filter((line) => /^floodgate_upstream_\w+(?<!_bucket)\{/.test(line))).toEqual([
    `floodgate_upstream_request_duration_seconds_sum{${ofCall}} 1.5`,
    `floodgate_upstream_request_duration_seconds_count{${ofCall}} 1`,
    `floodgate_upstream_failures_total{${ofCall},reason="nonsense"} 1`,
    'floodgate_upstream_hedges_total{network="n",node="a",method="eth_call"} 1',
    `floodgate_upstream_invalid_responses_total{${ofCall}} 1`,
    `floodgate_upstream_disagreements_total{${ofCall}} 1`,
    'floodgate_upstream_inexact_gas_total{network="n",node="a"} 2',
    'floodgate_upstream_head_regressions_total{network="n"} 1',
  ]);
});

it('an error is counted with its code, and codes that nodes invent share one series', async () => {
  const registry = new Registry();
  const observe = new GatewayMetrics(registry).observer('n', 'eth_call');
  for (const code of [3, -32_000, -32_602, -32_768, -31_999, 7])
    await observe(() => Promise.reject(new RpcError(code, 'failed'))).catch(() => undefined);
  await observe(() => Promise.reject(new TypeError('a fault'))).catch(() => undefined);
  const codes = [...(await registry.metrics()).matchAll(/code="([^"]*)"[^}]*\} ([1-9])/g)];
  expect(codes.map(([, code, count]) => `${code}: ${count}`).sort()).toEqual([
    '-32000: 1',
    '-32602: 1',
    '-32768: 1',
    '3: 1',
    'fault: 1',
    'other: 2',
  ]);
});

it('compressed responses are counted apart from those for which no time was free', async () => {
  const registry = new Registry();
  const { compressed, busy } = new GatewayMetrics(registry).compressionResults();
  for (const series of [compressed, busy]) series.inc();
  await registry.metrics();
  compressed.inc();
  const lines = (await registry.metrics()).split('\n');
  expect(
    lines.filter((line) => /result="(compressed|busy)"/.test(line)).map((line) => line.slice(-1)),
  ).toEqual(['2', '1']);
});
