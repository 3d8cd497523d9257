import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { call } from '../gateway/support/send.ts';
import { type Anvil, createTraffic, startAnvil } from '../support/anvil.ts';
import { startFloodgate } from '../support/startFloodgate.ts';
import { until } from '../support/until.ts';
import { type LyingNode, startLyingNode } from '../traces/support/lyingNode.ts';

const POLL = ['--index-poll-interval-ms', '50'];
const BLOCKS = 12;
/** A chain of its own, higher than the other. */
const OTHER_BLOCKS = 20;

describe('an index of one chain and nodes of another', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'floodgate-foreign-'));
  let ours: Anvil;
  let other: Anvil;
  /** A fake in part: a proxy that stands before one real node or the other, or is down. */
  let node: LyingNode;
  let traces: unknown;

  const all = { fromBlock: '0x0', toBlock: `0x${BLOCKS.toString(16)}` };

  beforeAll(async () => {
    [ours, other] = await Promise.all([startAnvil(), startAnvil({ extraArgs: ['--chain-id', '5'] })]);
    await (await createTraffic({ url: ours.url, seed: 15 })).run({ steps: BLOCKS });
    await (await createTraffic({ url: other.url, seed: 16 })).run({ steps: OTHER_BLOCKS });
    node = await startLyingNode(ours.url);
    const floodgate = await startFloodgate({ upstream: node.url, dataDir, args: POLL });
    traces = (await call(floodgate.gatewayUrl, 'trace_filter', all)).json.result;
    expect(traces).toHaveLength(200);
    await floodgate.stop();
  });
  afterAll(async () => {
    await Promise.all([node.stop(), ours.stop(), other.stop()]);
    rmSync(dataDir, { recursive: true, force: true });
  });

  test('the server does not start in front of both, in whatever order they stand, and says which is which', async () => {
    for (const upstream of [
      [other.url, ours.url],
      [ours.url, other.url],
    ])
      await expect(startFloodgate({ upstream, dataDir })).rejects.toThrow(
        /different chains: .* is on chain 5 with genesis .*the index is of chain 31337 with genesis|different chains: .* is on chain 31337 .* is on chain 5 .*the index is of chain 31337/,
      );
  });

  test('a wrong node alone is never asked, not for a relayed call either, though it is there first', async () => {
    node.fault = (response) => response.destroy();
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
      node.fault = undefined;
      await until('the right node is asked', async () => {
        const answer = await call(floodgate.gatewayUrl, 'eth_chainId');
        return answer.json.result === '0x7a69';
      });
      expect((await call(floodgate.gatewayUrl, 'trace_filter', all)).json.result).toEqual(traces);
      expect((await call(floodgate.gatewayUrl, 'eth_blockNumber')).json.result).toBe(all.toBlock);
    } finally {
      node.fault = undefined;
      await floodgate.stop();
    }
  });

  test('a node that another chain takes the place of between two polls is no reorganisation', async () => {
    const floodgate = await startFloodgate({ upstream: node.url, dataDir, args: POLL });
    try {
      // Without finality nothing but the chain's identity tells the two apart.
      node.lie = ({ params, result }) => (params[0] === 'finalized' || params[0] === 'safe' ? null : result);
      node.upstream = other.url;
      const ready = await until('it says what is wrong', async () => {
        const text = await (await fetch(`${floodgate.url}/readyz`)).text();
        return text.includes('use another data folder') && text;
      });
      expect(ready).toContain('the index holds chain 31337');
      expect(floodgate.output()).not.toContain('the chain was reorganised');
      expect((await call(floodgate.gatewayUrl, 'trace_filter', all)).json.result).toEqual(traces);
    } finally {
      node.lie = undefined;
      node.upstream = ours.url;
      await floodgate.stop();
    }
  });
});
