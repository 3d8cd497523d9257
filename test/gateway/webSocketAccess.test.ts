import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PROGRAM } from '../support/program.ts';
import { type SharedChain, startSharedChain } from '../support/sharedChain.ts';
import { type Floodgate, startFloodgate } from '../support/startFloodgate.ts';
import { until } from '../support/until.ts';
import { type InterceptedNode, startInterceptedNode } from './support/interceptedNode.ts';
import { send } from './support/send.ts';
import { openWebSocket } from './support/webSocketClient.ts';

const run = promisify(execFile);

describe('access control of WebSockets', () => {
  let chain: SharedChain;
  let node: InterceptedNode;
  let floodgate: Floodgate;

  beforeAll(async () => {
    chain = await startSharedChain();
    node = await startInterceptedNode(chain.anvil.url);
    const webSocket = { maxConnectionsPerKey: 2, maxSubscriptionsPerKey: 1 };
    floodgate = await startFloodgate({ upstream: node.url, tuning: { webSocket } });
  });
  afterAll(async () => {
    await floodgate?.stop();
    await node?.stop();
    await chain?.anvil.stop();
  });

  const key = async (...args: string[]): Promise<string> =>
    (await run(process.execPath, [PROGRAM, 'key', ...args, '--data-dir', floodgate.dataDir])).stdout;

  it('requires a key, applies its methods, rate and limits, and closes WebSockets when it is revoked', async () => {
    const create = ['create', '--name', 'few', '--methods', 'eth_chainId,eth_subscribe', '--rate', '20'];
    const secret = /fgk_\S{40}/.exec(await key(...create))?.[0] ?? '';
    await until('the gateway to require a key', async () => {
      const { status } = await send(floodgate.gatewayUrl, { body: [] });
      return status === 401;
    });
    await expect(openWebSocket(floodgate.gatewayUrl)).rejects.toThrow(/401/);
    await expect(openWebSocket(`${floodgate.gatewayUrl}?key=${secret}x`)).rejects.toThrow(/401/);

    const client = await openWebSocket(`${floodgate.gatewayUrl}?key=${secret}`);
    const other = await openWebSocket(floodgate.gatewayUrl, { authorization: `Bearer ${secret}` });
    await expect(openWebSocket(`${floodgate.gatewayUrl}?key=${secret}`)).rejects.toThrow(/429/);
    expect((await client.call('eth_chainId')).result).toBe('0x7a69');
    expect((await client.call('eth_blockNumber')).error.code).toBe(-32601);
    expect((await client.call('eth_subscribe', 'newHeads')).result).toMatch(/^0x[0-9a-f]{32}$/);
    expect((await other.call('eth_subscribe', 'newHeads')).error).toMatchObject({
      code: -32005,
      data: { limit: 1, requested: 2 },
    });

    // A WebSocket message has no HTTP status, so each call above the rate gets its own error.
    const batch = Array.from({ length: 30 }, (_, id) => ({
      jsonrpc: '2.0',
      id: 100 + id,
      method: 'eth_chainId',
    }));
    const refused = await until('the rate to be exceeded', () => {
      client.socket.send(JSON.stringify(batch));
      return client.messages.find((one) => Array.isArray(one) && one[0].error !== undefined);
    });
    expect(refused).toHaveLength(batch.length);
    expect(refused[7]).toMatchObject({ id: 107, error: { code: -32005, data: { limit: 20 } } });

    await key('revoke', /^(\S+) .* few$/m.exec(await key('list'))?.[1] ?? '');
    // A WebSocket that sends no calls is closed too.
    expect(await other.closed).toMatchObject({ code: 1008, reason: expect.stringContaining('key') });
    expect(await client.closed).toMatchObject({ code: 1008 });
  });

  it('completes running calls when the server stops, then closes with 1001', async () => {
    const secret = /fgk_\S{40}/.exec(await key('create', '--name', 'stop'))?.[0] ?? '';
    const [client, idle] = await Promise.all(
      [1, 2].map(() => openWebSocket(`${floodgate.gatewayUrl}?key=${secret}`)),
    );
    let answer: (() => void) | undefined;
    node.intercept = async ({ methods }, real) => {
      if (methods.includes('eth_gasPrice'))
        await new Promise<void>((resolve) => {
          answer = resolve;
        });
      return real();
    };
    const price = client?.call('eth_gasPrice');
    await until('the node to receive the call', () => answer !== undefined);
    const stopped = floodgate.stop();
    expect(await idle?.closed).toMatchObject({ code: 1001, reason: expect.stringContaining('stopping') });
    answer?.();
    expect((await price).result).toMatch(/^0x/);
    expect(await client?.closed).toMatchObject({ code: 1001 });
    await stopped;
  });
});
