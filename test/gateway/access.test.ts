import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startAnvil } from '../support/anvil.ts';
import { openIdleConnection, rawRequest } from '../support/idleReader.ts';
import { PROGRAM } from '../support/program.ts';
import { type SharedChain, startSharedChain } from '../support/sharedChain.ts';
import { type Floodgate, startFloodgate } from '../support/startFloodgate.ts';
import { until } from '../support/until.ts';
import { startInterceptedNode } from './support/interceptedNode.ts';
import { call, send } from './support/send.ts';

const run = promisify(execFile);
const CHAIN_ID = { jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] };
const BLOCK_NUMBER = { ...CHAIN_ID, method: 'eth_blockNumber' };

describe('access control of the gateway', () => {
  let chain: SharedChain;
  beforeAll(async () => {
    chain = await startSharedChain();
  });
  afterAll(async () => {
    await chain?.anvil.stop();
  });

  async function serving(
    options: Parameters<typeof startFloodgate>[0],
    test: (floodgate: Floodgate) => Promise<void>,
  ): Promise<void> {
    const floodgate = await startFloodgate({ upstream: chain.anvil.url, ...options });
    try {
      await test(floodgate);
    } finally {
      await floodgate.stop();
    }
  }

  it('creates, restricts, rate-limits and revokes API keys while the server runs', () =>
    serving({}, async ({ gatewayUrl, dataDir, output }) => {
      const key = async (...args: string[]): Promise<string> =>
        (await run(process.execPath, [PROGRAM, 'key', ...args, '--data-dir', dataDir])).stdout;
      expect(await key('list')).toMatch(/No keys exist/);
      expect((await send(gatewayUrl, { body: CHAIN_ID })).status).toBe(200);

      const all = /fgk_\S{40}/.exec(await key('create', '--name', 'all'))?.[0] ?? '';
      const closed = await until('the gateway to require a key', async () => {
        const answer = await send(gatewayUrl, { body: CHAIN_ID });
        return answer.status === 401 && answer;
      });
      expect(closed).toMatchObject({ json: { id: null, error: { code: -32000 } } });
      expect(closed.headers['www-authenticate']).toBe('Bearer');
      const bearer = (secret: string) => ({ authorization: `Bearer ${secret}` });
      expect((await send(gatewayUrl, { body: CHAIN_ID, headers: bearer(all) })).status).toBe(200);
      expect((await send(`${gatewayUrl}?key=${all}`, { body: CHAIN_ID })).status).toBe(200);
      expect((await send(gatewayUrl, { body: CHAIN_ID, headers: bearer(`${all}x`) })).status).toBe(401);
      expect((await send(gatewayUrl, { body: CHAIN_ID, headers: { authorization: all } })).status).toBe(401);

      const few = ['create', '--name', 'few', '--methods', 'eth_chainId', '--rate', '2'];
      const narrow = /fgk_\S{40}/.exec(await key(...few))?.[0] ?? '';
      const refused = await send(gatewayUrl, { body: BLOCK_NUMBER, headers: bearer(narrow) });
      expect(refused).toMatchObject({ status: 403, json: { error: { code: -32601 } } });
      const counts = await (await fetch(new URL('/metrics', gatewayUrl))).text();
      expect(counts).toMatch(/^floodgate_gateway_key_calls_total\{key="\w+",outcome="forbidden"\} 1$/m);
      expect(counts).not.toContain(narrow);
      // On a slow machine the bucket may refill between two batches.
      const many = await until('the key to exceed its rate', async () => {
        const answer = await send(gatewayUrl, { body: [CHAIN_ID, CHAIN_ID], headers: bearer(narrow) });
        return answer.status !== 200 && answer;
      });
      expect(many).toMatchObject({ status: 429, json: { error: { code: -32005, data: { limit: 2 } } } });
      expect(Number(many.headers['retry-after'])).toBeGreaterThan(0);

      const listed = await key('list');
      expect(listed).not.toContain(all);
      const id = /^(\S+) .* all$/m.exec(listed)?.[1] ?? '';
      await key('revoke', id);
      await until('the revoked key to be rejected', async () => {
        return (await send(gatewayUrl, { body: CHAIN_ID, headers: bearer(all) })).status === 401;
      });
      expect(output()).not.toContain(all);
    }));

  it.each([
    [['--name', ''], /--name/],
    [['--name', 'x', '--rate', '0'], /--rate is "0"/],
    [['--name', 'x', '--methods', 'eth_sign'], /eth_sign/],
  ])('rejects key create %j with exit code 64 and names the option', async (args, message) => {
    await expect(run(process.execPath, [PROGRAM, 'key', 'create', ...args])).rejects.toMatchObject({
      code: 64,
      stderr: expect.stringMatching(message),
    });
  });

  it('rejects calls above the rate of a client address with 429 and counts each batch entry', () =>
    serving({ args: ['--gateway-rate-per-address', '5'] }, async ({ gatewayUrl }) => {
      const startMs = performance.now();
      const batch = Array(5).fill(CHAIN_ID);
      const answers = await Promise.all(Array.from({ length: 20 }, () => send(gatewayUrl, { body: batch })));
      const elapsedSeconds = (performance.now() - startMs) / 1000;
      const passed = answers.filter(({ status }) => status === 200).length;
      expect(passed).toBeGreaterThanOrEqual(1);
      expect(5 * passed).toBeLessThanOrEqual(5 + 5 * elapsedSeconds);
      const refused = answers.find(({ status }) => status === 429);
      expect([refused?.json].flat()[0]).toMatchObject({ error: { code: -32005, data: { limit: 5 } } });
      await until('the address to be below its rate again', async () => {
        return (await send(gatewayUrl, { body: CHAIN_ID })).status === 200;
      });
    }));

  it('applies the rate to the client address that the trusted proxy adds, not to the proxy or to a forged address', () => {
    const args = ['--gateway-rate-per-address', '1', '--http-trusted-proxies', '127.0.0.1', '10.0.0.0/8'];
    return serving({ args }, async ({ gatewayUrl }) => {
      const status = async (forwarded: string): Promise<number> =>
        (await send(gatewayUrl, { body: CHAIN_ID, headers: { 'x-forwarded-for': forwarded } })).status;
      // 20 calls exceed the rate of one address, but each call is from a different client.
      for (let client = 1; client <= 20; client++) expect(await status(`198.51.100.${client}`)).toBe(200);
      const claimed = await Promise.all(
        Array.from({ length: 50 }, (_, i) => status(`203.0.113.${i}, 192.0.2.1, 10.0.0.9`)),
      );
      expect(claimed).toContain(429);
    });
  });

  it('rejects an invalid address in http.trustedProxies at start', async () => {
    const options = { upstream: chain.anvil.url, args: ['--http-trusted-proxies', '10.0.0.0/99'] };
    await expect(startFloodgate(options)).rejects.toThrow(/http.trustedProxies contains "10.0.0.0\/99"/);
  });

  it('rejects requests above gateway.maxInFlight immediately with 429', async () => {
    const node = await startInterceptedNode(chain.anvil.url);
    try {
      await serving(
        { upstream: node.url, args: ['--gateway-max-in-flight', '3'] },
        async ({ gatewayUrl }) => {
          let release: () => void = () => undefined;
          const held = new Promise<void>((resolve) => {
            release = resolve;
          });
          node.intercept = async ({ methods }, answer) => {
            if (methods[0] === 'eth_gasPrice' || methods[0] === 'eth_getCode') await held;
            return answer();
          };
          const address = `0x${'1'.repeat(40)}`;
          const slow = [1, 2, 3].map((block) => call(gatewayUrl, 'eth_getCode', address, block));
          await until(
            'three calls to reach the node',
            async () => (node.counts.get('eth_getCode') ?? 0) === 3,
          );
          const refused = await call(gatewayUrl, 'eth_chainId');
          expect(refused).toMatchObject({
            status: 429,
            json: { error: { code: -32005, data: { limit: 3 } } },
          });
          expect(refused.headers['retry-after']).toBe('01');
          release();
          for (const answer of await Promise.all(slow)) expect(answer.json.result).toBe('0x');
          expect((await call(gatewayUrl, 'eth_chainId')).status).toBe(200);
        },
      );
    } finally {
      await node.stop();
    }
  });

  it('counts a request as in flight until its calls end, and drops the waiting calls of a disconnected client', async () => {
    const node = await startInterceptedNode(chain.anvil.url);
    try {
      await serving({ upstream: node.url }, async ({ gatewayUrl, url }) => {
        let release: () => void = () => undefined;
        const held = new Promise<void>((resolve) => {
          release = resolve;
        });
        node.intercept = async ({ methods }, answer) => {
          if (methods[0] === 'eth_getCode') await held;
          return answer();
        };
        const sent = (): number => node.counts.get('eth_getCode') ?? 0;
        const params = (i: number): unknown[] => [`0x${String(i).padStart(40, '0')}`, 'latest'];
        const batch = Array.from({ length: 100 }, (_, id) => ({
          ...CHAIN_ID,
          id,
          method: 'eth_getCode',
          params: params(id),
        }));
        const metric = async (name: string): Promise<number> =>
          Number(
            new RegExp(`^floodgate_${name} (\\d+)$`, 'm').exec(
              await (await fetch(`${url}/metrics`)).text(),
            )?.[1],
          );
        const before = await metric('http_connections');
        const socket = await openIdleConnection(gatewayUrl);
        socket.write(rawRequest(gatewayUrl, batch));
        await until('eight calls to reach the node', async () => sent() === 8);
        socket.resetAndDestroy();
        await until('the disconnection', async () => (await metric('http_connections')) === before);
        expect(await metric('gateway_requests_in_flight')).toBe(1);
        release();
        await until('the batch to end', async () => (await metric('gateway_requests_in_flight')) === 0);
        expect(sent()).toBe(8);
      });
    } finally {
      await node.stop();
    }
  });

  it('serves only the methods listed in gateway.methods', () =>
    serving({ args: ['--gateway-methods', 'eth_chainId', 'trace_filter'] }, async ({ gatewayUrl }) => {
      expect((await call(gatewayUrl, 'eth_chainId')).status).toBe(200);
      expect((await call(gatewayUrl, 'eth_blockNumber')).status).toBe(403);
    }));

  it('rejects an unsupported method in gateway.methods at start', async () => {
    const options = { upstream: chain.anvil.url, args: ['--gateway-methods', 'eth_chainId', 'eth_sign'] };
    await expect(startFloodgate(options)).rejects.toThrow(/gateway.methods contains eth_sign/);
  });

  it('serves several networks, each with its own chain', async () => {
    const other = await startAnvil({ extraArgs: ['--chain-id', '5'] });
    try {
      const config = {
        upstream: [chain.anvil.url],
        networks: { goerli: { upstream: [other.url], indexFrom: 0 } },
      };
      await serving({ upstream: [], config }, async ({ url, gatewayUrl }) => {
        expect((await call(gatewayUrl, 'eth_chainId')).json.result).toBe('0x7a69');
        expect((await call(`${url}/v1/goerli`, 'eth_chainId')).json.result).toBe('0x5');
        expect((await call(`${url}/v1/goerli`, 'trace_filter', {})).json.result).toEqual([]);
        expect((await call(`${url}/v1/sepolia`, 'eth_chainId')).status).toBe(404);
        const metrics = await (await fetch(`${url}/metrics`)).text();
        expect(metrics).toMatch(/floodgate_upstream_up\{network="goerli",node="node-1"\} 1/);
        expect(metrics).not.toContain('eth_sign');
      });
    } finally {
      await other.stop();
    }
  });
});
