import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { type ApiKey, hashOfSecret } from '../../src/ethereum/gateway/index.ts';
import { openGatewayStorage } from '../../src/ethereum/store/lmdb/gateway/index.ts';
import { send as sendToRules } from '../rules/support/call.ts';
import { rulesPath } from '../rules/support/samples.ts';
import { type SharedChain, startSharedChain } from '../support/sharedChain.ts';
import { type Floodgate, startFloodgateProcess } from '../support/startFloodgate.ts';
import { until } from '../support/until.ts';
import { type InterceptedNode, startInterceptedNode } from './support/interceptedNode.ts';
import { send } from './support/send.ts';
import { openWebSocket } from './support/webSocketClient.ts';

/** Long enough to begin everything that ends with the token. */
const EXPIRES_AFTER_MS = 5_000;
/** Number of calls of one batch that run at the same time. */
const CONCURRENT_CALLS = 8;
const MEGABYTE = 1024 * 1024;
const UNAUTHORIZED = -32000;
const NOT_SUPPORTED = -32601;
const ADDRESS = `0x${'1'.repeat(40)}`;

type Cause = 'revoked' | 'expired' | 'narrowed';

interface Credential {
  readonly id: string;
  readonly value: string;
}

const rpc = (method: string, ...params: unknown[]) => ({ jsonrpc: '2.0', id: 1, method, params });

describe.each([
  { name: 'one process', args: ['--role', 'gateway,ingest,rules'] },
  { name: 'two workers', args: ['--role', 'gateway,ingest,rules', '--workers', '2'] },
])('on a server of $name', ({ args }) => {
  let chain: SharedChain;
  let node: InterceptedNode;
  let server: Floodgate;
  /** A key that stays valid. */
  let other: Credential;
  /** Resolves when a test ends, so that its calls occupy no slots of the node during the next one. */
  let testEnd: Promise<void>;
  let release: () => void = () => undefined;

  beforeEach(() => {
    testEnd = new Promise<void>((resolve) => {
      release = resolve;
    });
  });
  afterEach(() => release());

  beforeAll(async () => {
    chain = await startSharedChain();
    node = await startInterceptedNode(chain.anvil.url);
    node.intercept = async ({ methods }, answer, response) => {
      const [method] = methods;
      if (method === 'eth_gasPrice' || method === 'eth_getCode') await testEnd;
      if (method !== 'eth_call') return answer();
      // The start of a large result, whose end never arrives.
      response.on('error', () => undefined);
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write(`{"jsonrpc":"2.0","id":1,"result":"0x${'61'.repeat(5 * MEGABYTE)}`);
      return undefined;
    };
    server = await startFloodgateProcess({ upstream: node.url, args });
    other = await createKey();
    await until('the gateway to require a key', async () => (await sendWith('')).status === 401);
    await until('the key to be accepted', async () => (await sendWith(other.value)).status === 200);
  });
  afterAll(async () => {
    await server?.stop();
    await node?.stop();
    await chain?.anvil.stop();
  });

  const api = (method: string, path: string, body?: object) =>
    sendToRules({ baseUrl: `${server.url}/client/v4` }, { method, path, body });
  const create = async (path: string, body: object): Promise<Credential> => {
    const { status, text, json } = await api('POST', path, body);
    expect(status, text).toBe(200);
    return json.result;
  };
  const createKey = (): Promise<Credential> => create('/gateway/keys', { name: 'one' });
  const sendWith = (key: string, body: object = rpc('eth_chainId')) =>
    send(`${server.gatewayUrl}?key=${key}`, { body });

  /** Ends what a key allows, except eth_chainId if the key is narrowed. */
  async function endKey({ id, value }: Credential, cause: Cause): Promise<void> {
    if (cause === 'revoked') expect((await api('DELETE', `/gateway/keys/${id}`)).status).toBe(200);
    else {
      const { keys, close } = openGatewayStorage(server.dataDir, MEGABYTE);
      const change: Partial<ApiKey> =
        cause === 'narrowed' ? { methods: ['eth_chainId'] } : { expiresOn: new Date().toISOString() };
      const changed = keys.entries().map(({ secretHash, key }) => ({
        secretHash,
        key: secretHash === hashOfSecret(value) ? { ...key, ...change } : key,
      }));
      await keys.replaceAll(changed);
      await close();
    }
    const expected = cause === 'narrowed' ? 403 : 401;
    await until('a new request to be rejected', async () => {
      return (await sendWith(value, rpc('eth_blockNumber'))).status === expected;
    });
  }

  /** Sends all but the last byte of a request. Returns a function that sends the rest, and returns the status. */
  async function sendMost(url: string, body: string, token = ''): Promise<() => Promise<number>> {
    const headers = {
      'content-type': 'application/json',
      'content-length': body.length,
      ...(token !== '' && { authorization: `Bearer ${token}` }),
    };
    const request = httpRequest(url, { method: 'POST', agent: false, headers });
    const response = new Promise<IncomingMessage>((resolve, reject) =>
      request.once('response', resolve).once('error', reject),
    );
    await new Promise<void>((resolve) => request.write(body.slice(0, -1), () => resolve()));
    return async () => {
      request.end(body.slice(-1));
      const { statusCode = 0 } = await response;
      (await response).resume();
      return statusCode;
    };
  }

  /** Sends requests over one connection. Returns a function that returns the status of the next one. */
  function keepAlive(url: string, { token, body }: { token?: string; body?: object }) {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    onTestFinished(() => agent.destroy());
    const headers = {
      'content-type': 'application/json',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    };
    let socket: unknown;
    return () =>
      new Promise<number>((resolve, reject) => {
        const request = httpRequest(url, { method: body ? 'POST' : 'GET', agent, headers }, (response) => {
          socket ??= response.socket;
          expect(response.socket).toBe(socket);
          response.resume().once('end', () => resolve(response.statusCode ?? 0));
        });
        request.once('error', reject).end(body && JSON.stringify(body));
      });
  }

  let addresses = 0;
  /** Sends calls that the node holds, and waits until the node has received them. */
  async function held<T>(count: number, start: (calls: readonly object[]) => T): Promise<{ sent: T }> {
    const before = node.counts.get('eth_getCode') ?? 0;
    const calls = Array.from({ length: count }, () =>
      rpc('eth_getCode', `0x${String(++addresses).padStart(40, '0')}`, 'latest'),
    );
    const sent = start(calls);
    await until(
      'the node to receive the calls',
      () => (node.counts.get('eth_getCode') ?? 0) >= before + count,
    );
    return { sent };
  }

  /** Begins something with a key. Each returns a function that waits until it has ended as it must. */
  const kinds: Readonly<Record<string, (key: Credential) => Promise<(cause: Cause) => Promise<void>>>> = {
    async 'a WebSocket with a subscription'({ value }) {
      const client = await openWebSocket(`${server.gatewayUrl}?key=${value}`);
      onTestFinished(() => client.close());
      expect((await client.call('eth_subscribe', 'logs', {})).result).toMatch(/^0x/);
      return async () => expect(await client.closed).toMatchObject({ code: 1008 });
    },

    async 'a call over a WebSocket in progress'({ value }) {
      const client = await openWebSocket(`${server.gatewayUrl}?key=${value}`);
      onTestFinished(() => client.close());
      await held(1, ([one]) => client.socket.send(JSON.stringify(one)));
      let closed: number | undefined;
      client.socket.once('close', (code) => {
        closed = code;
      });
      return async () => {
        const codeOf = () => closed ?? client.messages.find(({ error }) => error !== undefined)?.error.code;
        expect([1008, UNAUTHORIZED]).toContain(await until('the end of the call', codeOf));
      };
    },

    async 'a filter'({ value }) {
      // Filters belong to one worker, so all requests use one connection.
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      onTestFinished(() => agent.destroy());
      const over = (key: string, body: object) =>
        // biome-ignore lint/suspicious/noExplicitAny: responses of every shape
        new Promise<any>((resolve, reject) => {
          const headers = { 'content-type': 'application/json' };
          const url = `${server.gatewayUrl}?key=${key}`;
          httpRequest(url, { method: 'POST', agent, headers }, async (response) =>
            resolve(JSON.parse(Buffer.concat(await response.toArray()).toString())),
          )
            .once('error', reject)
            .end(JSON.stringify(body));
        });
      const { result } = await over(value, rpc('eth_newFilter', {}));
      expect((await over(other.value, rpc('eth_getFilterChanges', result))).result).toEqual([]);
      return async () => {
        await until('the filter to end', async () => {
          return (await over(other.value, rpc('eth_getFilterChanges', result))).error !== undefined;
        });
      };
    },

    async 'a call in progress'({ value }) {
      const answer = await held(1, ([one]) => sendWith(value, one));
      return async () => expect((await answer.sent).json.error.code).toBe(UNAUTHORIZED);
    },

    async 'a batch in progress'({ value }) {
      const more = [rpc('eth_blockNumber'), rpc('eth_blockNumber')];
      const answer = await held(CONCURRENT_CALLS, (calls) => sendWith(value, [...calls, ...more]));
      return async (cause) => {
        const rest = cause === 'narrowed' ? NOT_SUPPORTED : UNAUTHORIZED;
        const codes = (await answer.sent).json.map(({ error }: { error?: { code: number } }) => error?.code);
        expect(codes).toEqual([...Array(CONCURRENT_CALLS).fill(UNAUTHORIZED), rest, rest]);
      };
    },

    async 'a result that is streamed'({ value }) {
      const body = rpc('eth_call', { to: ADDRESS, data: `0x${value.length}` }, 'latest');
      const request = httpRequest(`${server.gatewayUrl}?key=${value}`, {
        method: 'POST',
        agent: false,
        headers: { 'content-type': 'application/json' },
      });
      const response = await new Promise<IncomingMessage>((resolve, reject) =>
        request.once('response', resolve).once('error', reject).end(JSON.stringify(body)),
      );
      const cut = new Promise((resolve) => response.once('error', resolve));
      response.resume();
      return async () => expect(await cut).toMatchObject({ code: 'ECONNRESET' });
    },

    async 'a request whose body is incomplete'({ value }) {
      const body = JSON.stringify(rpc('eth_blockNumber'));
      const finish = await sendMost(`${server.gatewayUrl}?key=${value}`, body);
      return async (cause) => expect(await finish()).toBe(cause === 'narrowed' ? 403 : 401);
    },

    async 'a connection that is kept alive'({ value }) {
      const next = keepAlive(`${server.gatewayUrl}?key=${value}`, { body: rpc('eth_blockNumber') });
      expect(await next()).toBe(200);
      return async (cause) => expect(await next()).toBe(cause === 'narrowed' ? 403 : 401);
    },
  };

  describe.each<Cause>(['revoked', 'expired', 'narrowed'])('when an API key is %s', (cause) => {
    it.each(Object.keys(kinds))('%s ends', async (kind) => {
      const key = await createKey();
      await until('the key to be accepted', async () => (await sendWith(key.value)).status === 200);
      const ended = await kinds[kind]?.(key);
      await endKey(key, cause);
      await ended?.(cause);
      expect((await sendWith(other.value)).status).toBe(200);
    });
  });

  const rulesUrl = () => `${server.url}/client/v4${rulesPath('a')}`;
  const ofTokens: Readonly<Record<string, (token: string) => Promise<() => Promise<void>>>> = {
    async 'an event stream'(token) {
      const response = await fetch(rulesUrl().replace(/rules$/, 'live'), {
        headers: { authorization: `Bearer ${token}` },
      });
      expect(response.status).toBe(200);
      const text = response.text();
      return async () => expect(await text).toMatch(/^id: /);
    },
    async 'a change whose body is incomplete'(token) {
      const rule = {
        scope: 'global',
        name: 'late',
        mode: 'enabled',
        profile_sensitivity: 'low',
        rate_sensitivity: 'low',
        burst_sensitivity: 'low',
      };
      const finish = await sendMost(rulesUrl(), JSON.stringify(rule), token);
      return async () => {
        expect(await finish()).toBe(401);
        expect((await api('GET', rulesPath('a'))).json.result).toEqual([]);
      };
    },
    async 'a connection that is kept alive'(token) {
      const next = keepAlive(rulesUrl(), { token });
      expect(await next()).toBe(200);
      return async () => expect(await next()).toBe(401);
    },
  };

  describe.each(['revoked', 'expired', 'revoked with its creator'])('when a token is %s', (cause) => {
    it.each(Object.keys(ofTokens))('%s ends', async (kind) => {
      const permissions = ['dns_protection:write', 'tokens:write'];
      const body = { accounts: ['a'], permissions };
      const creator = await create('/user/tokens', body);
      const expires_on = new Date(Date.now() + EXPIRES_AFTER_MS).toISOString();
      const asked = { ...body, ...(cause === 'expired' && { expires_on }) };
      const made = await sendToRules(
        { baseUrl: `${server.url}/client/v4` },
        { method: 'POST', path: '/user/tokens', body: asked, token: creator.value },
      );
      const { id, value }: Credential = made.json.result;
      const ended = await ofTokens[kind]?.(value);
      if (cause === 'revoked') await api('DELETE', `/user/tokens/${id}`);
      if (cause === 'revoked with its creator') await api('DELETE', `/user/tokens/${creator.id}`);
      await until('the token to end', async () => {
        return (await api('GET', `/user/tokens/${id}`)).json.result.status !== 'active';
      });
      await ended?.();
    });
  });
});
