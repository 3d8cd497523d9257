import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request as httpRequest } from 'node:http';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { PROGRAM } from '../support/program.ts';
import { type SharedChain, startSharedChain } from '../support/sharedChain.ts';
import { type Floodgate, startFloodgate } from '../support/startFloodgate.ts';
import { until } from '../support/until.ts';
import { openWebSocket, type WebSocketClient } from './support/webSocketClient.ts';

const run = promisify(execFile);
const MAX_REJECTED = 32;
const call = (method: string): string => JSON.stringify({ jsonrpc: '2.0', id: 'x', method, params: [] });
const SUCCESS = call('eth_chainId');
const UNSUPPORTED = call('eth_accounts');

describe('a client whose requests are all rejected', () => {
  let chain: SharedChain;
  let floodgate: Floodgate;
  /** Rejects nearly all calls with 429. */
  let limited: Floodgate;
  const open: { close(): void }[] = [];

  beforeAll(async () => {
    chain = await startSharedChain();
    const upstream = chain.anvil.url;
    floodgate = await startFloodgate({ upstream });
    limited = await startFloodgate({ upstream, config: { gateway: { ratePerAddress: 1 } } });
  });
  afterAll(async () => {
    await floodgate?.stop();
    await limited?.stop();
    await chain?.anvil.stop();
  });
  afterEach(() => {
    for (const one of open.splice(0)) one.close();
  });

  /** A client with one keep-alive connection. `post` returns the status and the Connection header. */
  function keepAlive({ gatewayUrl }: Floodgate) {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    open.push({ close: () => agent.destroy() });
    const ports = new Set<number | undefined>();
    async function post(body: string): Promise<string> {
      const request = httpRequest(gatewayUrl, {
        agent,
        method: 'POST',
        headers: { 'content-type': 'application/json' },
      });
      request.end(body);
      const [response] = await once(request, 'response');
      ports.add(request.socket?.localPort);
      response.resume();
      await once(response, 'end');
      return `${response.statusCode} ${response.headers.connection}`;
    }
    return { ports, post };
  }

  async function repeated(post: (body: string) => Promise<string>, body: string, count = MAX_REJECTED) {
    const answers: string[] = [];
    for (let i = 0; i < count; i++) answers.push(await post(body));
    return answers;
  }

  it.each([
    { status: 403, what: 'an unsupported method', body: UNSUPPORTED },
    { status: 403, what: 'a batch of unsupported methods', body: `[${UNSUPPORTED}]` },
    { status: 400, what: 'a body that is not JSON', body: '{' },
    { status: 400, what: 'a body that is not a request', body: '{}' },
  ])('is disconnected with the response to the 33rd rejected request: $what', async ({ status, body }) => {
    const { post, ports } = keepAlive(floodgate);
    expect(await repeated(post, body)).toEqual(Array(MAX_REJECTED).fill(`${status} keep-alive`));
    expect(await post(body)).toBe(`${status} close`);
    expect(ports.size).toBe(1);
    expect(await post(SUCCESS)).toBe('200 keep-alive');
    expect(ports.size).toBe(2);
  });

  it('is disconnected if it has no API key', async () => {
    const keyed = await startFloodgate({ upstream: chain.anvil.url });
    try {
      await run(process.execPath, [PROGRAM, 'key', 'create', '--name', 'one', '--data-dir', keyed.dataDir]);
      const probe = keepAlive(keyed);
      await until(
        'the gateway to require a key',
        async () => (await probe.post(SUCCESS)) === '401 keep-alive' || undefined,
      );
      const { post } = keepAlive(keyed);
      expect(await repeated(post, SUCCESS)).toEqual(Array(MAX_REJECTED).fill('401 keep-alive'));
      expect(await post(SUCCESS)).toBe('401 close');
    } finally {
      await keyed.stop();
    }
  });

  it('stays connected if one call of 32 succeeds, and after errors with status 200', async () => {
    const { post, ports } = keepAlive(floodgate);
    for (let round = 0; round < 3; round++) {
      await repeated(post, UNSUPPORTED, MAX_REJECTED - 1);
      expect(await post(SUCCESS)).toBe('200 keep-alive');
    }
    const invalid = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_getBalance', params: ['x'] });
    expect(await repeated(post, invalid, 2 * MAX_REJECTED)).toEqual(
      Array(2 * MAX_REJECTED).fill('200 keep-alive'),
    );
    expect(ports.size).toBe(1);
  });

  it('stays connected if its calls exceed a rate', async () => {
    const { post, ports } = keepAlive(limited);
    const answers = await repeated(post, SUCCESS, 2 * MAX_REJECTED);
    expect(answers.filter((answer) => answer === '429 keep-alive').length).toBeGreaterThan(MAX_REJECTED);
    expect(ports.size).toBe(1);
  });

  async function webSocket({ gatewayUrl }: Floodgate): Promise<WebSocketClient> {
    const client = await openWebSocket(gatewayUrl);
    open.push(client);
    return client;
  }

  it.each([
    { what: 'an unsupported method', body: UNSUPPORTED },
    { what: 'a body that is not JSON', body: '{' },
  ])(
    'is disconnected from a WebSocket with 1008 after the 33rd rejected message: $what',
    async ({ body }) => {
      const client = await webSocket(floodgate);
      for (let i = 0; i < MAX_REJECTED - 1; i++) client.socket.send(body);
      expect(await client.call('eth_chainId')).toMatchObject({ result: '0x7a69' });
      for (let i = 0; i < 2 * MAX_REJECTED; i++) client.socket.send(body);
      expect(await client.closed).toMatchObject({ code: 1008, reason: expect.stringContaining('rejected') });
      expect(client.messages).toHaveLength(MAX_REJECTED + MAX_REJECTED + 1);
      const metrics = await (await fetch(`${floodgate.url}/metrics`)).text();
      expect(metrics).toMatch(/^floodgate_gateway_websocket_closes_total\{reason="rejected"\} [1-9]/m);
    },
  );

  it('stays connected to a WebSocket if its calls exceed a rate', async () => {
    const client = await webSocket(limited);
    const count = 2 * MAX_REJECTED;
    for (let i = 0; i < count; i++) client.socket.send(SUCCESS);
    await until('all responses', () => client.messages.length === count);
    expect(client.messages.filter(({ error }) => error?.code === -32005).length).toBeGreaterThan(
      MAX_REJECTED,
    );
    expect(client.socket.readyState).toBe(client.socket.OPEN);
  });
});
