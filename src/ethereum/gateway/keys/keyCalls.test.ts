import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { KeyCalls } from './keyCalls.ts';

it('counts the calls of 1,000 keys by key, and the calls of further keys together', async () => {
  const registry = new Registry();
  const calls = new KeyCalls(registry);
  for (let round = 0; round < 2; round++)
    for (let key = 0; key < 1_100; key++) calls.of(`key-${key}`).admitted.inc();
  calls.of('key-7').limited.inc();
  const metric = await registry.getSingleMetric('floodgate_gateway_key_calls_total')?.get();
  const counted = (metric?.values ?? []).filter(({ value }) => value > 0);
  expect(counted).toHaveLength(1_002);
  const of = (key: string, outcome = 'admitted') =>
    counted.find(({ labels }) => labels['key'] === key && labels['outcome'] === outcome)?.value;
  expect([of('key-0'), of('key-999'), of('key-1000'), of('other'), of('key-7', 'limited')]).toEqual([
    2,
    2,
    undefined,
    200,
    1,
  ]);
});
