import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type SharedChain, startSharedChain } from '../support/sharedChain.ts';
import { startFloodgate } from '../support/startFloodgate.ts';
import { until } from '../support/until.ts';
import { type LyingNode, startLyingNode } from '../traces/support/lyingNode.ts';

const BALANCE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'eth_getBalance',
  params: [`0x${'12'.repeat(20)}`, 'latest'],
};

describe('a graceful stop', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'floodgate-stop-'));
  let chain: SharedChain;
  let node: LyingNode;

  beforeAll(async () => {
    chain = await startSharedChain();
    node = await startLyingNode(chain.anvil.url);
  });
  afterAll(async () => {
    await node?.stop();
    await chain?.anvil.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  const post = (url: string): Promise<Response> =>
    fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(BALANCE),
    });

  it('finishes what runs, refuses what is new, closes the store and ends with code 0', async () => {
    // No connection is waited for longer than its request: the stop does not run into its time limit.
    const args = ['--stop-timeout-ms', '600000'];
    const floodgate = await startFloodgate({ upstream: node.url, dataDir, args });
    let hurry = (): void => undefined;
    const slow = new Promise<void>((resolve) => {
      hurry = resolve;
    });
    // The call under way waits at the node until it is told to go on.
    node.slowness = slow;
    node.asked.clear();
    const underWay = post(floodgate.gatewayUrl);
    await until('the node is asked', () => node.asked.has('eth_getBalance'));
    const stopped = floodgate.stop();
    await until('what is new is refused', () =>
      fetch(`${floodgate.url}/healthz`).then(
        ({ status }) => status === 503,
        () => true,
      ),
    );
    expect(floodgate.process.exitCode).toBe(null);
    hurry();
    const response = await underWay;
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ id: 1, result: '0x0' });
    expect(await stopped).toBe(0);
    node.slowness = undefined;

    // The lock is gone, and the data is whole.
    const next = await startFloodgate({ upstream: node.url, dataDir });
    expect(await next.stop()).toBe(0);
    expect(next.output()).not.toContain('"level":40');
  });

  it('does not wait for ever: after --stop-timeout-ms what still runs is cut off', async () => {
    const args = ['--stop-timeout-ms', '100'];
    const floodgate = await startFloodgate({ upstream: node.url, dataDir, args });
    node.fault = () => undefined; // the node never answers
    const underWay = post(floodgate.gatewayUrl).catch((error: unknown) => error);
    const code = await floodgate.stop();
    node.fault = undefined;
    expect(code).toBe(0);
    await underWay;
  });
});
