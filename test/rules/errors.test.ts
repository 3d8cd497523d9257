import { once } from 'node:events';
import { Agent, request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../support/until.ts';
import { type Call, call } from './support/call.ts';
import { newRule, rulesPath } from './support/samples.ts';
import { type RulesServer, startServer, TOKEN } from './support/server.ts';

const rules = rulesPath('errors');
const noRule = `${rules}/3fa85f64-5717-4562-b3fc-2c963f66afa6`;
const without = (field: keyof typeof newRule) => ({ ...newRule, [field]: undefined });

/** [name of the case, request, expected status, code and pointer of each entry of `errors`] */
type Row = readonly [string, Call, number, ...(readonly [number, string?])[]];

const authentication: Row[] = [
  ['a request without Authorization', { path: rules, token: null }, 401, [10000]],
  ['a request with an unknown token', { path: rules, token: 'fg_unknown' }, 401, [10000]],
  [
    'a request with another authentication scheme',
    { path: rules, token: null, headers: { authorization: 'Basic YTpi' } },
    400,
    [6003],
  ],
  [
    'a request with Bearer but no token',
    { path: rules, token: null, headers: { authorization: 'Bearer' } },
    400,
    [6003],
  ],
  [
    'a request with an empty Authorization',
    { path: rules, token: null, headers: { authorization: '' } },
    400,
    [6003],
  ],
  ['a request with a space in the token', { path: rules, token: 'one two' }, 400, [6003]],
  [
    'a request with a body but without Authorization',
    { method: 'POST', path: rules, token: null, body: newRule },
    401,
    [10000],
  ],
  ['a token check without Authorization', { path: '/user/tokens/verify', token: null }, 401, [10000]],
];

const routing: Row[] = [
  ['an unknown path', { path: '/zones' }, 404, [7000]],
  ['the base path', { path: '' }, 404, [7000]],
  ['an unknown path without Authorization', { path: '/zones', token: null }, 404, [7000]],
  ['a rule path with another segment', { path: `${noRule}/more` }, 404, [7000]],
  ['a doubled slash', { path: rules.replace('/configs', '//configs') }, 404, [7000]],
  ['a malformed percent-escape', { path: '/accounts/%zz/network' }, 404, [7000]],
  ['a malformed percent-escape in the account', { path: rulesPath('%e0%a4%a') }, 404, [7000]],
  ['an account of 33 characters', { path: rulesPath('a'.repeat(33)) }, 404, [7003]],
  ['an account of 500 characters', { path: rulesPath('a'.repeat(500)) }, 404, [7000]],
  ['an account with a space', { path: rulesPath('a%20b') }, 404, [7003]],
  ['an account with a slash', { path: rulesPath('a%2Fb') }, 404, [7003]],
  ['a read of an unknown rule', { path: noRule }, 404, [7003]],
  ['a change of an unknown rule', { method: 'PATCH', path: noRule, body: {} }, 404, [7003]],
  ['a deletion of an unknown rule', { method: 'DELETE', path: noRule }, 404, [7003]],
  ['a rule id that is not a UUID', { path: `${rules}/global` }, 404, [7003]],
  ['a rule id with a zero byte', { path: `${rules}/a%00b` }, 404, [7003]],
];

const methods: Row[] = [
  ...['PUT', 'PATCH', 'OPTIONS', 'TRACE', 'PROPFIND', 'QUERY'].map(
    (method): Row => [`${method} on the collection`, { method, path: rules }, 405, [10405]],
  ),
  ...['PUT', 'POST', 'OPTIONS', 'MKCOL', 'QUERY'].map(
    (method): Row => [`${method} on a rule`, { method, path: noRule }, 405, [10405]],
  ),
  ['POST on a rule, with a body', { method: 'POST', path: `${noRule}/`, body: newRule }, 405, [10405]],
  ['PUT of 65 KiB', { method: 'PUT', path: rules, body: 'x'.repeat(65 * 1024) }, 405, [10405]],
  ['POST on the token check', { method: 'POST', path: '/user/tokens/verify' }, 405, [10405]],
];

const post = (body: unknown): Call => ({ method: 'POST', path: rules, body });

/** Requests with the text that tells the client what to do. */
const REMEDIES: readonly (readonly [name: string, request: Call, remedy: RegExp])[] = [
  ['no token', { path: rules, token: null }, /send the header Authorization: Bearer TOKEN/],
  [
    'an unknown token',
    { path: rules, token: 'fg_unknown' },
    /unknown, expired or revoked: floodgate token create/,
  ],
  ['an unknown path', { path: '/zones' }, /GET \/client\/v4\/openapi\.json lists all paths/],
  ['a wrong method', { method: 'PUT', path: noRule, body: {} }, /PUT is not allowed here; allowed: .*PATCH/],
];

/** The errors of a new rule without any field, in the order of the response. */
const everyField = [
  'scope',
  'name',
  'mode',
  'profile_sensitivity',
  'rate_sensitivity',
  'burst_sensitivity',
].map((field) => [10001, `/${field}`] as const);

const bodies: Row[] = [
  ['a create without a body', post(undefined), 400, [6007]],
  ['an empty body', post(''), 400, [6007]],
  ['a body that is not JSON', post('{"scope":'), 400, [6007]],
  ['JSON with a trailing comma', post('{"scope":"global",}'), 400, [6007]],
  ['JSON nested 20,000 deep, not closed', post('['.repeat(20_000)), 400, [6007]],
  ['a body that is not UTF-8', post(Buffer.from('7b226e616d65223a22ff227d', 'hex')), 400, [6007]],
  ['a list as body', post([newRule]), 400, [10001]],
  ['a list nested 30,000 deep', post('['.repeat(30_000) + ']'.repeat(30_000)), 400, [10001]],
  ['a string as body', post('"global"'), 400, [10001]],
  ['null as body', post('null'), 400, [10001]],
  ['a number as body', post('1'), 400, [10001]],
  ['an empty object as body', post({}), 400, ...everyField],
  ...(Object.keys(newRule) as (keyof typeof newRule)[]).flatMap((field): Row[] => [
    [`a rule without ${field}`, post(without(field)), 400, [10001, `/${field}`]],
    [`a number as ${field}`, post({ ...newRule, [field]: 1 }), 400, [10001, `/${field}`]],
    [`null as ${field}`, post({ ...newRule, [field]: null }), 400, [10001, `/${field}`]],
    [`an empty ${field}`, post({ ...newRule, [field]: '' }), 400, [10001, `/${field}`]],
    [`an object as ${field}`, post({ ...newRule, [field]: { a: 1 } }), 400, [10001, `/${field}`]],
  ]),
  ['a mode in capitals', post({ ...newRule, mode: 'ENABLED' }), 400, [10001, '/mode']],
  [
    'very_high as rate_sensitivity',
    post({ ...newRule, rate_sensitivity: 'very_high' }),
    400,
    [10001, '/rate_sensitivity'],
  ],
  [
    'very_high as burst_sensitivity',
    post({ ...newRule, burst_sensitivity: 'very_high' }),
    400,
    [10001, '/burst_sensitivity'],
  ],
  ['a member of Object.prototype as mode', post({ ...newRule, mode: 'constructor' }), 400, [10001, '/mode']],
  ['a name of blanks', post({ ...newRule, name: ' \t\u00a0 ' }), 400, [10001, '/name']],
  ['a name of 65 characters', post({ ...newRule, name: 'n'.repeat(65) }), 400, [10001, '/name']],
  ['a name with a line break', post({ ...newRule, name: 'a\nb' }), 400, [10001, '/name']],
  ['a name with an invisible character', post({ ...newRule, name: 'a\u200bb' }), 400, [10001, '/name']],
  ['a name with half a surrogate pair', post('{"name":"\\ud800"}'), 400, ...everyField],
  ['a misspelt field', post({ ...newRule, rate_sensitivty: 'low' }), 400, [10001, '/rate_sensitivty']],
  ['a field that the server sets', post({ ...newRule, id: 'x' }), 400, [10001, '/id']],
  ['a field with a slash and a tilde', post({ ...newRule, 'a/b~c': 1 }), 400, [10001, '/a~1b~0c']],
  [
    'a field named __proto__',
    post(JSON.stringify(newRule).replace('{', '{"__proto__":{"mode":1},')),
    400,
    [10001, '/__proto__'],
  ],
  ['a field named constructor', post({ ...newRule, constructor: 1 }), 400, [10001, '/constructor']],
  [
    'a duplicate field',
    post(JSON.stringify(newRule).replace('{', '{"mode":"disabled",')),
    400,
    [10001, '/mode'],
  ],
  [
    'a duplicate field with an escape in its name',
    post(JSON.stringify(newRule).replace('{', '{"\\u006dode":"disabled",')),
    400,
    [10001, '/mode'],
  ],
  [
    'several invalid fields',
    post({ ...newRule, mode: 'on', name: '', extra: 1 }),
    400,
    [10001, '/name'],
    [10001, '/mode'],
    [10001, '/extra'],
  ],
  ['a body of 65 KiB', post(`"${'x'.repeat(65 * 1024)}"`), 413, [10413]],
  [
    'a chunked body of 65 KiB',
    {
      ...post(`"${'x'.repeat(65 * 1024)}"`),
      headers: { 'transfer-encoding': 'chunked' },
    },
    413,
    [10413],
  ],
  ['an empty Idempotency-Key', { ...post(newRule), headers: { 'idempotency-key': '' } }, 400, [10001]],
  [
    'an Idempotency-Key of 256 characters',
    { ...post(newRule), headers: { 'idempotency-key': 'k'.repeat(256) } },
    400,
    [10001],
  ],
];

const list = (query: string): Call => ({ path: `${rules}?${query}` });

const paging: Row[] = [
  ['page=0', list('page=0'), 400, [10001, '/page']],
  ['page=-1', list('page=-1'), 400, [10001, '/page']],
  ['page=1.5', list('page=1.5'), 400, [10001, '/page']],
  ['page=', list('page='), 400, [10001, '/page']],
  ['page=1e3', list('page=1e3'), 400, [10001, '/page']],
  ['a page above 2^53', list('page=9007199254740993'), 400, [10001, '/page']],
  ['a duplicate page', list('page=1&page=2'), 400, [10001, '/page']],
  ['per_page=0', list('per_page=0'), 400, [10001, '/per_page']],
  ['per_page=1001', list('per_page=1001'), 400, [10001, '/per_page']],
  ['order=id', list('order=id'), 400, [10001, '/order']],
  ['order=__proto__', list('order=__proto__'), 400, [10001, '/order']],
  ['direction=up', list('direction=up'), 400, [10001, '/direction']],
  [
    'four invalid paging parameters',
    list('page=a&per_page=b&order=c&direction=d'),
    400,
    [10001, '/page'],
    [10001, '/per_page'],
    [10001, '/order'],
    [10001, '/direction'],
  ],
];

describe('the rules API', () => {
  let server: RulesServer;
  beforeAll(async () => {
    server = await startServer();
  });
  afterAll(() => server.stop());

  for (const [sent, request, status, ...errors] of [
    ...authentication,
    ...routing,
    ...methods,
    ...bodies,
    ...paging,
  ])
    it(`rejects ${sent} with ${status}`, async () => {
      const answer = await call(server, request);
      expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
      expect(answer.status).toBe(status);
      expect(answer.json).toMatchObject({ result: null, success: false, messages: [] });
      const reported = answer.json.errors.map((error: { code: number; source?: { pointer: string } }) =>
        error.source ? [error.code, error.source.pointer] : [error.code],
      );
      expect(reported).toEqual(errors);
      for (const { message } of answer.json.errors) expect(message).not.toBe('');
    });

  it.each(REMEDIES)('tells what to do after a request with %s', async (_, request, remedy) => {
    expect(JSON.stringify((await call(server, request)).json.errors)).toMatch(remedy);
  });

  it('sends WWW-Authenticate: Bearer with a 401', async () => {
    expect((await call(server, { path: rules, token: null })).headers['www-authenticate']).toBe('Bearer');
    expect((await call(server, { path: rules, token: 'x' })).headers['www-authenticate']).toMatch(/^Bearer/);
  });

  it('returns the error chain for a malformed Authorization', async () => {
    const answer = await call(server, { path: rules, token: null, headers: { authorization: 'x' } });
    expect(answer.json.errors).toEqual([
      {
        code: 6003,
        message: 'Invalid request headers',
        error_chain: [{ code: 6111, message: 'Invalid format for Authorization header' }],
      },
    ]);
  });

  it('lists the allowed methods in the Allow header of a 405', async () => {
    const allow = async (path: string) => (await call(server, { method: 'PUT', path })).headers['allow'];
    expect(await allow(rules)).toBe('GET, HEAD, POST, DELETE');
    expect(await allow(`${noRule}/`)).toBe('GET, HEAD, PATCH, DELETE');
    expect(await allow('/user/tokens/verify')).toBe('GET, HEAD');
  });

  it('names the allowed values and the received one in the message', async () => {
    const answer = await call(server, post({ ...newRule, mode: 'on' }));
    expect(answer.json.errors[0].message).toBe(
      'mode must be one of "enabled", "monitoring", "disabled"; got "on"',
    );
  });

  it('returns at most 101 errors for 5,000 unknown fields', async () => {
    const fields = Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`f${index}`, 1]));
    const answer = await call(server, post({ ...newRule, ...fields }));
    expect(answer.status).toBe(400);
    expect(answer.json.errors.length).toBeLessThanOrEqual(101);
  });

  it('rejects a body of 10 MB with 413 and answers the next request', async () => {
    // With "connection: close" the client could lose the response while it is still sending.
    const headers = { connection: 'keep-alive' };
    const sent = await call(server, { ...post('x'.repeat(10 * 1024 * 1024)), headers });
    expect(sent.status).toBe(413);
    expect((await call(server, { path: rules })).status).toBe(200);
  });

  it('rejects a body of 20 MB before it is complete, reads the rest, and answers the next request on the connection', async () => {
    const { hostname, port } = new URL(server.baseUrl);
    const socket = connect(Number(port), hostname);
    try {
      let received = '';
      socket.on('error', () => undefined);
      socket.on('data', (bytes) => {
        received += bytes;
      });
      const answered = (what: string, status: number): Promise<unknown> =>
        until(what, () => {
          if (socket.closed) throw new Error(`the connection was closed before ${what}`);
          return received.includes(`HTTP/1.1 ${status}`);
        });
      const head = (method: string, length: number): string =>
        `${method} /client/v4${rules} HTTP/1.1\r\nhost: ${hostname}:${port}\r\nauthorization: Bearer ${TOKEN}\r\ncontent-length: ${length}\r\n\r\n`;
      socket.write(head('POST', 20_000_000));
      for (let i = 0; i < 20; i++) {
        socket.write('x'.repeat(1_000_000));
        await answered('the response 413', 413);
      }
      socket.write(head('GET', 0));
      await answered('the response to the next request', 200);
    } finally {
      socket.destroy();
    }
  });

  it('sends Connection: close with the response to the 33rd rejected request of a connection', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const headers = { authorization: 'Bearer fg_unknown' };
    const closes: number[] = [];
    try {
      for (let number = 1; number <= 34; number++) {
        const request = httpRequest(server.baseUrl + rules, { agent, headers }).end();
        const [response] = await once(request, 'response');
        if (response.headers.connection === 'close') closes.push(number);
        await once(response.resume(), 'end');
      }
    } finally {
      agent.destroy();
    }
    expect(closes).toEqual([33]);
  });

  it('stores no rule in any of these requests', async () => {
    expect((await call(server, { path: rules })).json.result).toEqual([]);
  });
});
