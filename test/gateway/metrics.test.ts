import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type SharedChain, startSharedChain } from '../support/sharedChain.ts';
import { type Floodgate, startFloodgate } from '../support/startFloodgate.ts';
import { until } from '../support/until.ts';
import { call, send } from './support/send.ts';

/** Texts that a hostile client sends; the metrics must contain none of them. */
const HOSTILE = ['hostile_text', 'hostile"} 1\nhostile_series{x="', '__proto__hostile', 'h'.repeat(2_000)];
const HOSTILE_MARK = /hostile|hhhh/;

describe('the metrics of the gateway', () => {
  let chain: SharedChain;
  let floodgate: Floodgate;
  beforeAll(async () => {
    chain = await startSharedChain();
    floodgate = await startFloodgate({
      upstream: chain.anvil.url,
      args: ['--gateway-rate-per-address', '1000'],
    });
  });
  afterAll(async () => {
    await floodgate?.stop();
    await chain?.anvil.stop();
  });

  const page = async (): Promise<string> => (await fetch(`${floodgate.url}/metrics`)).text();

  it('count and time calls, node requests, errors, cache results and limited calls, by method and node', async () => {
    const { gatewayUrl } = floodgate;
    await call(gatewayUrl, 'eth_getBlockByNumber', '0x1', false);
    await call(gatewayUrl, 'eth_getBlockByNumber', '0x1', false);
    await call(gatewayUrl, 'eth_getBlockByNumber', 'nonsense', false);
    await call(gatewayUrl, 'eth_sign');
    const batch = { body: Array(100).fill({ jsonrpc: '2.0', id: 1, method: 'eth_chainId' }) };
    await until('the rate to be exceeded', async () => (await send(gatewayUrl, batch)).status === 429);
    const text = await page();
    const call_ = 'network="mainnet",method="eth_getBlockByNumber"';
    const node = 'network="mainnet",node="node-1"';
    for (const series of [
      `floodgate_gateway_call_duration_seconds_bucket{le="0.001",${call_}} `,
      `floodgate_gateway_call_duration_seconds_count{${call_}} 3`,
      `floodgate_gateway_call_errors_total{${call_},code="-32602"} 1`,
      `floodgate_gateway_cache_total{${call_},result="hit"} 1`,
      `floodgate_gateway_cache_total{${call_},result="miss"} 1`,
      'floodgate_gateway_cache_total{network="mainnet",method="eth_chainId",result="coalesced"} ',
      'floodgate_gateway_limited_total{limit="unsupported_method"} 1',
      'floodgate_gateway_limited_total{limit="address_rate"} 1',
      'floodgate_gateway_limited_total{limit="key_rate"} 0',
      'floodgate_gateway_limited_total{limit="in_flight"} 0',
      'floodgate_gateway_limited_total{limit="unauthorized"} 0',
      `floodgate_upstream_request_duration_seconds_count{${node},method="eth_getBlockByNumber"} `,
      `floodgate_upstream_up{${node}} 1`,
      `floodgate_upstream_head_block{${node}} `,
    ])
      expect(text).toContain(series);
    for (const name of [
      'upstream_failures',
      'upstream_hedges',
      'upstream_invalid_responses',
      'upstream_head_regressions',
    ])
      expect(text).toContain(`# TYPE floodgate_${name}_total counter`);
  });

  it('contain no text sent by a client, such as a method, id, network, key, origin or path', async () => {
    const { gatewayUrl, url } = floodgate;
    const seriesBefore = (await page()).split('\n').length;
    for (const text of HOSTILE) {
      const encoded = encodeURIComponent(text);
      const visible = text.replaceAll('\n', '');
      await call(gatewayUrl, text, text);
      await send(gatewayUrl, { body: { jsonrpc: '2.0', id: text, method: 'eth_chainId', params: [] } });
      await send(gatewayUrl, { body: [{ jsonrpc: text, id: text, method: text, params: { [text]: text } }] });
      await send(`${url}/v1/${encoded}`, { body: {} });
      await send(`${gatewayUrl}?key=${encoded}`, {
        body: { jsonrpc: '2.0', id: 1, method: 'eth_getBalance', params: [text, text] },
        headers: { authorization: `Bearer ${visible}`, origin: visible, 'user-agent': visible },
      });
      await fetch(`${url}/client/v4/accounts/${encoded}/${encoded}`, { method: 'PATCH' });
      await fetch(`${url}/${encoded}`);
    }
    const text = await page();
    expect(text).not.toMatch(HOSTILE_MARK);
    // A rejected call may add the first series of its error code, but the number of series stays bounded.
    expect(text.split('\n').length - seriesBefore).toBeLessThan(60);
  });
});
