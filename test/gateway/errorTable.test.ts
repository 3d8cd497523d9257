import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type SharedChain, startSharedChain } from '../support/sharedChain.ts';
import { type Floodgate, startFloodgate } from '../support/startFloodgate.ts';
import { type SendOptions, send } from './support/send.ts';

/** A request, its complete expected response, and the test name. */
interface Row {
  readonly says: string;
  readonly path?: string;
  readonly send: SendOptions;
  readonly status: number;
  /** The body without the `message` of errors: the wording may change, the code may not. */
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

const chainId = (id?: unknown): object => ({
  jsonrpc: '2.0',
  method: 'eth_chainId',
  params: [],
  ...(id !== undefined && { id }),
});
const CHAIN_ID = '0x7a69';
const result = (id: unknown, value: unknown = CHAIN_ID): object => ({ jsonrpc: '2.0', id, result: value });
const error = (id: unknown, code: number, data?: unknown): object => ({
  jsonrpc: '2.0',
  id,
  error: { code, ...(data !== undefined && { data }) },
});
const filter = (params: unknown): SendOptions => ({
  body: { jsonrpc: '2.0', id: 1, method: 'trace_filter', params },
});
const NO_SUCH = { jsonrpc: '2.0', id: 5, method: 'eth_sign', params: [] };
const MAX_BODY_BYTES = 2 * 1024 * 1024;

/** One call in each content coding that every supported version of Node can decode. */
const CODED = (
  [
    ['gzip', gzipSync],
    ['X-GZip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
    ['identity, gzip', gzipSync],
  ] as const
).map(([coding, compress]) => [coding, compress(JSON.stringify(chainId(1)))] as const);

const ROWS: readonly Row[] = [
  { says: 'a call returns its result', send: { body: chainId(1) }, status: 200, body: result(1) },
  { says: 'id 0 is echoed', send: { body: chainId(0) }, status: 200, body: result(0) },
  { says: 'a negative id is echoed', send: { body: chainId(-7) }, status: 200, body: result(-7) },
  { says: 'a string id is echoed', send: { body: chainId('a"b') }, status: 200, body: result('a"b') },
  { says: 'id null is echoed', send: { body: chainId(null) }, status: 200, body: result(null) },
  {
    says: 'an unknown filter returns -32000',
    send: { body: { jsonrpc: '2.0', id: 1, method: 'eth_getFilterChanges', params: ['0x1'] } },
    status: 200,
    body: error(1, -32000),
  },
  {
    says: 'a notification returns 204 without a body',
    send: { body: chainId() },
    status: 204,
    body: undefined,
  },
  {
    says: 'a fractional id returns -32600',
    send: { body: chainId(1.5) },
    status: 400,
    body: error(null, -32600),
  },
  {
    says: 'an id above 2^53 returns -32600',
    send: { body: '{"jsonrpc":"2.0","id":9007199254740993,"method":"eth_chainId"}' },
    status: 400,
    body: error(null, -32600),
  },
  {
    says: 'an object as id returns -32600',
    send: { body: chainId({ a: 1 }) },
    status: 400,
    body: error(null, -32600),
  },
  {
    says: 'true as id returns -32600',
    send: { body: chainId(true) },
    status: 400,
    body: error(null, -32600),
  },
  {
    says: 'params may be omitted',
    send: { body: { jsonrpc: '2.0', id: 1, method: 'eth_chainId' } },
    status: 200,
    body: result(1),
  },
  {
    says: 'params by name return -32602',
    send: { body: { jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: {} } },
    status: 200,
    body: error(1, -32602),
  },
  {
    says: 'an unsupported method returns 403 and -32601',
    send: { body: NO_SUCH },
    status: 403,
    body: error(5, -32601),
  },
  {
    says: 'a method name is case-sensitive',
    send: { body: { ...NO_SUCH, method: 'ETH_CHAINID' } },
    status: 403,
    body: error(5, -32601),
  },
  {
    says: 'a method named __proto__ returns -32601',
    send: { body: { ...NO_SUCH, method: '__proto__' } },
    status: 403,
    body: error(5, -32601),
  },
  {
    says: 'an unsupported notification returns 403',
    send: { body: { jsonrpc: '2.0', method: 'eth_sign' } },
    status: 403,
    body: error(null, -32601),
  },
  { says: 'an empty body returns -32700', send: { body: '' }, status: 400, body: error(null, -32700) },
  {
    says: 'a truncated body returns -32700',
    send: { body: '{"json' },
    status: 400,
    body: error(null, -32700),
  },
  {
    says: 'JSON with a trailing comma returns -32700',
    send: { body: '[1,]' },
    status: 400,
    body: error(null, -32700),
  },
  { says: 'NaN returns -32700', send: { body: 'NaN' }, status: 400, body: error(null, -32700) },
  {
    says: 'invalid UTF-8 returns -32700',
    send: { body: Buffer.from([0x22, 0xc3, 0x28, 0x22]) },
    status: 400,
    body: error(null, -32700),
  },
  { says: 'a number as request returns -32600', send: { body: '1' }, status: 400, body: error(null, -32600) },
  { says: 'null as request returns -32600', send: { body: 'null' }, status: 400, body: error(null, -32600) },
  {
    says: 'a request without jsonrpc 2.0 returns -32600 with its id',
    send: { body: { id: 1, method: 'eth_chainId' } },
    status: 400,
    body: error(1, -32600),
  },
  {
    says: 'a request without method returns -32600 with its id',
    send: { body: { jsonrpc: '2.0', id: 2 } },
    status: 400,
    body: error(2, -32600),
  },
  { says: 'an empty batch returns -32600', send: { body: [] }, status: 400, body: error(null, -32600) },
  {
    says: 'a batch of one call returns a list',
    send: { body: [chainId(1)] },
    status: 200,
    body: [result(1)],
  },
  {
    says: 'a batch returns its results in order',
    send: { body: [chainId(3), chainId(1), chainId(3)] },
    status: 200,
    body: [result(3), result(1), result(3)],
  },
  {
    says: 'a batch of 100 calls returns 100 results',
    send: { body: Array.from({ length: 100 }, (_, i) => chainId(i)) },
    status: 200,
    body: Array.from({ length: 100 }, (_, i) => result(i)),
  },
  {
    says: 'a batch of 101 calls returns -32005 for each call',
    send: { body: Array.from({ length: 101 }, (_, i) => chainId(i)) },
    status: 200,
    body: Array.from({ length: 101 }, (_, i) => error(i, -32005, { limit: 100, requested: 101 })),
  },
  {
    says: 'in a batch above the limit, an invalid entry returns an error with id null and a notification returns none',
    send: { body: [7, chainId(), ...Array.from({ length: 998 }, () => chainId('a'))] },
    status: 200,
    body: [null, ...Array.from({ length: 998 }, () => 'a')].map((id) =>
      error(id, -32005, { limit: 100, requested: 1_000 }),
    ),
  },
  {
    says: 'a batch of 1,001 calls returns a single error',
    send: { body: Array.from({ length: 1_001 }, (_, i) => chainId(i)) },
    status: 200,
    body: error(null, -32005, { limit: 100, requested: 1_001 }),
  },
  {
    says: 'a batch of 101 notifications returns a single error',
    send: { body: Array.from({ length: 101 }, () => chainId()) },
    status: 200,
    body: error(null, -32005, { limit: 100, requested: 101 }),
  },
  {
    says: 'notifications in a batch return no entry',
    send: { body: [chainId(), chainId(2)] },
    status: 200,
    body: [result(2)],
  },
  {
    says: 'a batch of notifications returns 204 without a body',
    send: { body: [chainId(), chainId()] },
    status: 204,
    body: undefined,
  },
  {
    says: 'an unsupported method in a batch returns an error for its entry only',
    send: { body: [NO_SUCH, chainId(1)] },
    status: 200,
    body: [error(5, -32601), result(1)],
  },
  {
    says: 'a batch without a supported method returns 403',
    send: { body: [NO_SUCH, NO_SUCH] },
    status: 403,
    body: [error(5, -32601), error(5, -32601)],
  },
  {
    says: 'an invalid entry in a batch returns -32600 for itself only',
    send: { body: [1, chainId(1), { jsonrpc: '2.0', id: 9 }] },
    status: 200,
    body: [error(null, -32600), result(1), error(9, -32600)],
  },
  {
    says: 'a batch inside a batch returns -32600',
    send: { body: [[chainId(1)]] },
    status: 200,
    body: [error(null, -32600)],
  },
  {
    says: 'an invalid parameter returns -32602',
    send: filter([{ count: -1 }]),
    status: 200,
    body: error(1, -32602),
  },
  {
    says: 'a block range above the limit returns -32005 with the limit',
    send: filter([{ fromBlock: '0x0', toBlock: '0x320' }]),
    status: 200,
    body: error(1, -32005, { limit: 800, requested: 801 }),
  },
  {
    says: '__proto__ in params returns -32602 as any unknown member',
    send: { body: '{"jsonrpc":"2.0","id":1,"method":"trace_filter","params":[{"__proto__":{"count":1}}]}' },
    status: 200,
    body: error(1, -32602),
  },
  {
    says: '__proto__ in a request has no effect',
    send: { body: '{"__proto__":{"method":"eth_sign"},"jsonrpc":"2.0","id":1,"method":"eth_chainId"}' },
    status: 200,
    body: result(1),
  },
  {
    says: 'a trailing slash is accepted',
    path: '/v1/mainnet/',
    send: { body: chainId(1) },
    status: 200,
    body: result(1),
  },
  {
    says: 'a query string is ignored',
    path: '/v1/mainnet?x=1',
    send: { body: chainId(1) },
    status: 200,
    body: result(1),
  },
  {
    says: 'the chain id is accepted in place of the network name',
    path: '/v1/31337',
    send: { body: chainId(1) },
    status: 200,
    body: result(1),
  },
  ...['/v1/031337', '/v1/0x7a69', '/v1/31338', '/v1/31337x'].map(
    (path): Row => ({
      says: `${path} is not the chain id and returns 404`,
      path,
      send: { body: chainId(1) },
      status: 404,
      body: error(null, -32600),
    }),
  ),
  {
    says: 'POST to the OpenRPC document returns 405',
    path: '/v1/mainnet/openrpc.json',
    send: { body: chainId(1) },
    status: 405,
    body: error(null, -32600),
    headers: { allow: 'GET, OPTIONS' },
  },
  {
    says: 'the OpenRPC document of an unknown network returns 404',
    path: '/v1/sepolia/openrpc.json',
    send: { method: 'GET' },
    status: 404,
    body: error(null, -32600),
  },
  {
    says: 'rpc.discover with parameters returns -32602',
    send: { body: { ...NO_SUCH, method: 'rpc.discover', params: [1] } },
    status: 200,
    body: error(5, -32602),
  },
  {
    says: 'an unknown path returns 404',
    path: '/v1/mainnet/x',
    send: { body: chainId(1) },
    status: 404,
    body: error(null, -32600),
  },
  {
    says: 'an unknown network returns 404',
    path: '/v1/sepolia',
    send: { body: chainId(1) },
    status: 404,
    body: error(null, -32600),
  },
  {
    says: 'GET of an unknown network returns 404',
    path: '/v1/__proto__',
    send: { method: 'GET' },
    status: 404,
    body: error(null, -32600),
  },
  ...(['GET', 'PUT', 'PATCH', 'DELETE'] as const).map(
    (method): Row => ({
      says: `${method} returns 405`,
      send: { method },
      status: 405,
      body: error(null, -32600),
      headers: { allow: 'POST, OPTIONS' },
    }),
  ),
  {
    says: 'content type text/plain returns 415',
    send: { body: chainId(1), headers: { 'content-type': 'text/plain' } },
    status: 415,
    body: error(null, -32600),
  },
  ...(['application/json-rpc', 'application/jsonrequest', 'application/json; charset=utf-8'] as const).map(
    (type): Row => ({
      says: `content type ${type} is accepted`,
      send: { body: chainId(1), headers: { 'content-type': type } },
      status: 200,
      body: result(1),
    }),
  ),
  {
    says: 'content type application/jsonx returns 415',
    send: { body: chainId(1), headers: { 'content-type': 'application/jsonx' } },
    status: 415,
    body: error(null, -32600),
  },
  {
    says: 'a form returns 415',
    send: { body: chainId(1), headers: { 'content-type': 'application/x-www-form-urlencoded' } },
    status: 415,
    body: error(null, -32600),
  },
  ...CODED.map(
    ([coding, body]): Row => ({
      says: `a body in ${coding} is accepted`,
      send: { body, headers: { 'content-encoding': coding } },
      status: 200,
      body: result(1),
    }),
  ),
  ...['compress', 'gzip, gzip', 'gzip, br', 'aws-chunked', 'gzip;q=1', '"'.repeat(1_000)].map(
    (coding): Row => ({
      says: `a body in ${coding.slice(0, 20)} returns 415 with the accepted codings`,
      send: { body: gzipSync(JSON.stringify(chainId(1))), headers: { 'content-encoding': coding } },
      status: 415,
      body: error(null, -32600),
      headers: { 'accept-encoding': expect.stringMatching(/^gzip, deflate, br(, zstd)?$/) },
    }),
  ),
  ...CODED.flatMap(([coding, body]): Row[] =>
    [
      { what: 'truncated', body: body.subarray(0, -1) },
      { what: 'followed by other bytes', body: Buffer.concat([body, Buffer.from('{}')]) },
      { what: 'not compressed', body: Buffer.from(JSON.stringify(chainId(1))) },
      { what: 'empty', body: '' },
    ].map(({ what, body: spoilt }) => ({
      says: `a body in ${coding} that is ${what} returns -32700`,
      send: { body: spoilt, headers: { 'content-encoding': coding } },
      status: 400,
      body: error(null, -32700),
    })),
  ),
  {
    says: 'a compressed body that expands to exactly the limit is accepted',
    send: {
      body: gzipSync(JSON.stringify(chainId(1)).padEnd(MAX_BODY_BYTES)),
      headers: { 'content-encoding': 'gzip' },
    },
    status: 200,
    body: result(1),
  },
  ...[MAX_BODY_BYTES + 1, 10_000_000].map(
    (bytes): Row => ({
      says: `a compressed body that expands to ${bytes} bytes returns 413`,
      send: { body: gzipSync(Buffer.alloc(bytes, ' ')), headers: { 'content-encoding': 'gzip' } },
      status: 413,
      body: error(null, -32005, { limit: MAX_BODY_BYTES }),
    }),
  ),
  {
    says: 'a body with content-encoding identity is accepted',
    send: { body: chainId(1), headers: { 'content-encoding': 'Identity' } },
    status: 200,
    body: result(1),
  },
  {
    says: 'a header section above the limit returns 431',
    send: { body: chainId(1), headers: { 'x-large': 'x'.repeat(20_000) } },
    status: 431,
    body: error(null, -32600),
  },
  {
    says: 'a WebSocket upgrade without its Connection header returns 405',
    send: {
      method: 'GET',
      headers: {
        upgrade: 'websocket',
        'sec-websocket-version': '13',
        'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
      },
    },
    status: 405,
    body: error(null, -32600),
    headers: { allow: 'POST, OPTIONS' },
  },
  {
    says: 'a path without a network returns 404',
    path: '/v1',
    send: { body: chainId(1) },
    status: 404,
    body: error(null, -32600),
  },
  {
    says: 'a charset parameter of the content type is accepted',
    send: { body: chainId(1), headers: { 'content-type': 'application/json; charset=utf-8' } },
    status: 200,
    body: result(1),
  },
  {
    says: 'a body above the limit returns 413',
    send: { body: ' '.repeat(MAX_BODY_BYTES + 1) },
    status: 413,
    body: error(null, -32005, { limit: MAX_BODY_BYTES, requested: MAX_BODY_BYTES + 1 }),
  },
  {
    says: 'a body of exactly the limit is accepted',
    send: { body: JSON.stringify(chainId(1)).padEnd(MAX_BODY_BYTES) },
    status: 200,
    body: result(1),
  },
  {
    says: 'a call from any origin is allowed',
    send: { body: chainId(1), headers: { origin: 'https://example.org' } },
    status: 200,
    body: result(1),
    headers: {
      'access-control-allow-origin': '*',
      'access-control-expose-headers': 'x-floodgate-cache, x-floodgate-upstream, x-request-id, retry-after',
    },
  },
  {
    says: 'an error allows any origin',
    send: { body: NO_SUCH, headers: { origin: 'https://example.org' } },
    status: 403,
    body: error(5, -32601),
    headers: { 'access-control-allow-origin': '*' },
  },
  {
    says: 'a CORS preflight returns 204 with the allowed headers',
    send: {
      method: 'OPTIONS',
      headers: {
        origin: 'https://example.org',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type',
      },
    },
    status: 204,
    body: undefined,
    headers: {
      'access-control-allow-origin': '*',
      'access-control-allow-methods': 'POST',
      'access-control-allow-headers':
        'content-type, content-encoding, authorization, x-api-key, x-request-id, user-agent, cache-control, pragma, traceparent, tracestate, baggage, sentry-trace',
    },
  },
];

describe('JSON-RPC over HTTP', () => {
  let chain: SharedChain;
  let floodgate: Floodgate;
  beforeAll(async () => {
    chain = await startSharedChain();
    floodgate = await startFloodgate({ upstream: chain.anvil.url });
  });
  afterAll(async () => {
    await floodgate?.stop();
    await chain?.anvil.stop();
  });

  it('names the received content type', async () => {
    const headers = { 'content-type': 'text/plain' };
    const answer = await send(`${floodgate.url}/v1/mainnet`, { body: chainId(1), headers });
    expect(answer.json.error.message).toBe('Content-Type must be application/json; it is "text/plain"');
  });

  it.each(ROWS)('$says', async ({ path = '/v1/mainnet', send: sent, status, body, headers = {} }) => {
    const answer = await send(floodgate.url + path, sent);
    expect({ status: answer.status, body: withoutMessages(answer.json) }).toEqual({ status, body });
    expect(answer.headers).toMatchObject(headers);
    if (answer.text !== '') expect(answer.headers['content-type']).toBe('application/json');
  });

  it('every error has a message of at least two words', async () => {
    for (const row of ROWS.filter(({ status }) => status >= 400)) {
      const { json } = await send(floodgate.url + (row.path ?? '/v1/mainnet'), row.send);
      for (const entry of Array.isArray(json) ? json : [json])
        expect(entry.error.message, row.says).toMatch(/\w+ \w+/);
    }
  });

  it.each<[string, unknown, string]>([
    ['a method', 'eth_sign', 'eth_sign'],
    ['HTML', '<script>alert(1)</script>', '?script?alert?1???script?'],
    ['quotes and escapes', 'a"},{"x":"\\u0022', 'a?????x????u0022'],
    ['control and non-ASCII characters', 'a\u0000\u001b[2J\u202eé', 'a???2J??'],
    ['a long name', 'x'.repeat(256), `${'x'.repeat(64)}…`],
    ['an empty name', '', 'a method without a name'],
  ])(
    'the error for an unsupported method quotes %s with at most 64 safe characters',
    async (_what, method, shown) => {
      const { json } = await send(floodgate.gatewayUrl, { body: { ...NO_SUCH, method } });
      const message = `the gateway does not support ${shown}; rpc.discover lists the supported methods`;
      expect(json).toEqual({ jsonrpc: '2.0', id: 5, error: { code: -32601, message } });
    },
  );

  it('the error for a subscription names the WebSocket', async () => {
    const { json } = await send(floodgate.gatewayUrl, { body: { ...NO_SUCH, method: 'eth_subscribe' } });
    const message = 'the gateway does not support eth_subscribe over HTTP; subscriptions need a WebSocket';
    expect(json).toEqual({ jsonrpc: '2.0', id: 5, error: { code: -32601, message } });
  });

  it('only origins listed in gateway.corsOrigins are allowed', async () => {
    const strict = await startFloodgate({
      upstream: chain.anvil.url,
      env: { FLOODGATE_GATEWAY_CORS_ORIGINS: 'https://one.example,https://two.example' },
    });
    try {
      const allowed = async (origin: string): Promise<unknown> => {
        const { headers } = await send(strict.gatewayUrl, { body: chainId(1), headers: { origin } });
        return headers['access-control-allow-origin'];
      };
      expect(await allowed('https://two.example')).toBe('https://two.example');
      expect(await allowed('https://three.example')).toBeUndefined();
      const { headers } = await send(strict.gatewayUrl, {
        body: chainId(1),
        headers: { origin: 'https://three.example' },
      });
      expect(headers).not.toHaveProperty('access-control-expose-headers');
    } finally {
      await strict.stop();
    }
  });
});

/** Returns a response without its error messages, after checking that each error has one. */
function withoutMessages(answer: unknown): unknown {
  if (Array.isArray(answer)) return answer.map(withoutMessages);
  if (typeof answer !== 'object' || answer === null || !('error' in answer)) return answer;
  const { message, ...rest } = answer.error as { message: unknown };
  expect(message).toBeTypeOf('string');
  return { ...answer, error: rest };
}
