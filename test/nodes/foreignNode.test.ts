import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { call } from '../gateway/support/send.ts';
import { type Anvil, createTraffic, startAnvil } from '../support/anvil.ts';
import { startFloodgate } from '../support/startFloodgate.ts';
import { until } from '../support/until.ts';
import { type FaultyNode, startFaultyNode } from '../traces/support/faultyNode.ts';

const POLL = ['--index-poll-interval-ms', '50'];
const BLOCKS = 12;
/** Height of the second chain, above that of the first. */
const OTHER_BLOCKS = 20;

describe('an index with nodes of another chain', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'floodgate-foreign-'));
  let ours: Anvil;
  let other: Anvil;
  /** A proxy of one of the two real nodes, which can also be unreachable. */
  let node: FaultyNode;
  let traces: unknown;

  const all = { fromBlock: '0x0', toBlock: `0x${BLOCKS.toString(16)}`, count: 200 };

  beforeAll(async () => {
    [ours, other] = await Promise.all([startAnvil(), startAnvil({ extraArgs: ['--chain-id', '5'] })]);
    await (await createTraffic({ url: ours.url, seed: 15 })).run({ steps: BLOCKS });
    await (await createTraffic({ url: other.url, seed: 16 })).run({ steps: OTHER_BLOCKS });
    node = await startFaultyNode(ours.url);
    const floodgate = await startFloodgate({ upstream: node.url, dataDir, args: POLL });
    traces = (await call(floodgate.gatewayUrl, 'trace_filter', all)).json.result;
    expect(traces).toHaveLength(200);
    await floodgate.stop();
  });
  afterAll(async () => {
    await Promise.all([node.stop(), ours.stop(), other.stop()]);
    rmSync(dataDir, { recursive: true, force: true });
  });

  test('rejects nodes of both chains at start, in any order, and names their chains', async () => {
    for (const upstream of [
      [other.url, ours.url],
      [ours.url, other.url],
    ])
      await expect(startFloodgate({ upstream, dataDir })).rejects.toThrow(
        /different chains: .* is on chain 5 with genesis .*the index has chain 31337 with genesis|different chains: .* is on chain 31337 .* is on chain 5 .*the index has chain 31337/,
      );
  });

  test('sends no call to a node of another chain, even if it is the only one available at start', async () => {
    node.replaceResponse = (response) => response.destroy();
    const upstream = [other.url, node.url];
    const floodgate = await startFloodgate({ upstream, dataDir, args: POLL, whenListening: true });
    try {
      const { json } = await call(floodgate.gatewayUrl, 'eth_chainId');
      expect(json.result).toBeUndefined();
      expect(json.error.message).toMatch(/node/);
      const held = await call(floodgate.gatewayUrl, 'trace_block', BLOCKS);
      expect(held.json.result.length).toBeGreaterThan(0);
      expect(floodgate.output()).toMatch(
        /it is on another chain, chain 5 with genesis 0x[0-9a-f]{64}; expected chain 31337/,
      );
      node.replaceResponse = undefined;
      await until('the right node to serve calls', async () => {
        const answer = await call(floodgate.gatewayUrl, 'eth_chainId');
        return answer.json.result === '0x7a69';
      });
      expect((await call(floodgate.gatewayUrl, 'trace_filter', all)).json.result).toEqual(traces);
      expect((await call(floodgate.gatewayUrl, 'eth_blockNumber')).json.result).toBe(all.toBlock);
    } finally {
      node.replaceResponse = undefined;
      await floodgate.stop();
    }
  });

  test('does not treat a node that changes its chain between two polls as a reorganisation', async () => {
    const floodgate = await startFloodgate({ upstream: node.url, dataDir, args: POLL });
    try {
      // Without finality, only the chain's identity distinguishes the two chains.
      node.replaceResult = ({ params, result }) =>
        params[0] === 'finalized' || params[0] === 'safe' ? null : result;
      node.upstream = other.url;
      const ready = await until('the reason in /readyz', async () => {
        const text = await (await fetch(`${floodgate.url}/readyz`)).text();
        return text.includes('use another data folder') && text;
      });
      expect(ready).toContain('the index contains chain 31337');
      expect(floodgate.output()).not.toContain('chain reorganised');
      expect((await call(floodgate.gatewayUrl, 'trace_filter', all)).json.result).toEqual(traces);
    } finally {
      node.replaceResult = undefined;
      node.upstream = ours.url;
      await floodgate.stop();
    }
  });
});
