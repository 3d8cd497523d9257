import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../support/until.ts';
import { type Call, call } from './support/call.ts';
import { newRule, rulesPath } from './support/samples.ts';
import { type RulesServer, startServer, TOKEN } from './support/server.ts';

const rules = rulesPath('errors');
const noRule = `${rules}/3fa85f64-5717-4562-b3fc-2c963f66afa6`;
const without = (field: keyof typeof newRule) => ({ ...newRule, [field]: undefined });

/** [what is sent, the call, status, what each entry of `errors` says: code and pointer] */
type Row = readonly [string, Call, number, ...(readonly [number, string?])[]];

const authentication: Row[] = [
  ['no Authorization', { path: rules, token: null }, 401, [10000]],
  ['an unknown token', { path: rules, token: 'fg_unknown' }, 401, [10000]],
  ['another scheme', { path: rules, token: null, headers: { authorization: 'Basic YTpi' } }, 400, [6003]],
  ['a scheme without token', { path: rules, token: null, headers: { authorization: 'Bearer' } }, 400, [6003]],
  ['an empty Authorization', { path: rules, token: null, headers: { authorization: '' } }, 400, [6003]],
  ['a token with a space', { path: rules, token: 'one two' }, 400, [6003]],
  [
    'no Authorization, with a body',
    { method: 'POST', path: rules, token: null, body: newRule },
    401,
    [10000],
  ],
  ['no Authorization, for a token check', { path: '/user/tokens/verify', token: null }, 401, [10000]],
];

const routing: Row[] = [
  ['an unknown path', { path: '/zones' }, 404, [7000]],
  ['the bare base', { path: '' }, 404, [7000]],
  ['an unknown path, unauthenticated', { path: '/zones', token: null }, 404, [7000]],
  ['a path that goes on', { path: `${noRule}/more` }, 404, [7000]],
  ['a doubled slash', { path: rules.replace('/configs', '//configs') }, 404, [7000]],
  ['a malformed percent-escape', { path: '/accounts/%zz/network' }, 404, [7000]],
  ['a malformed percent-escape in the account', { path: rulesPath('%e0%a4%a') }, 404, [7000]],
  ['an account of 33 characters', { path: rulesPath('a'.repeat(33)) }, 404, [7003]],
  ['an account of 500 characters', { path: rulesPath('a'.repeat(500)) }, 404, [7000]],
  ['an account with a space', { path: rulesPath('a%20b') }, 404, [7003]],
  ['an account with a slash', { path: rulesPath('a%2Fb') }, 404, [7003]],
  ['a rule that is not there', { path: noRule }, 404, [7003]],
  ['a change of a rule that is not there', { method: 'PATCH', path: noRule, body: {} }, 404, [7003]],
  ['a deletion of a rule that is not there', { method: 'DELETE', path: noRule }, 404, [7003]],
  ['a rule id that is no UUID', { path: `${rules}/global` }, 404, [7003]],
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

/** Each field of a new rule at fault, in the order in which they are told. */
const everyField = [
  'scope',
  'name',
  'mode',
  'profile_sensitivity',
  'rate_sensitivity',
  'burst_sensitivity',
].map((field) => [10001, `/${field}`] as const);

const bodies: Row[] = [
  ['no body', post(undefined), 400, [6007]],
  ['an empty body', post(''), 400, [6007]],
  ['no JSON', post('{"scope":'), 400, [6007]],
  ['JSON with a trailing comma', post('{"scope":"global",}'), 400, [6007]],
  ['JSON nested 20,000 deep, not closed', post('['.repeat(20_000)), 400, [6007]],
  ['bytes that are no UTF-8', post(Buffer.from('7b226e616d65223a22ff227d', 'hex')), 400, [6007]],
  ['a list', post([newRule]), 400, [10001]],
  ['a list nested 30,000 deep', post('['.repeat(30_000) + ']'.repeat(30_000)), 400, [10001]],
  ['a string', post('"global"'), 400, [10001]],
  ['null', post('null'), 400, [10001]],
  ['a number', post('1'), 400, [10001]],
  ['an empty object', post({}), 400, ...everyField],
  ...(Object.keys(newRule) as (keyof typeof newRule)[]).flatMap((field): Row[] => [
    [`no ${field}`, post(without(field)), 400, [10001, `/${field}`]],
    [`a number as ${field}`, post({ ...newRule, [field]: 1 }), 400, [10001, `/${field}`]],
    [`null as ${field}`, post({ ...newRule, [field]: null }), 400, [10001, `/${field}`]],
    [`an empty ${field}`, post({ ...newRule, [field]: '' }), 400, [10001, `/${field}`]],
    [`an object as ${field}`, post({ ...newRule, [field]: { a: 1 } }), 400, [10001, `/${field}`]],
  ]),
  ['a mode in capitals', post({ ...newRule, mode: 'ENABLED' }), 400, [10001, '/mode']],
  [
    'very_high as rate',
    post({ ...newRule, rate_sensitivity: 'very_high' }),
    400,
    [10001, '/rate_sensitivity'],
  ],
  [
    'very_high as burst',
    post({ ...newRule, burst_sensitivity: 'very_high' }),
    400,
    [10001, '/burst_sensitivity'],
  ],
  ['a mode of Object.prototype', post({ ...newRule, mode: 'constructor' }), 400, [10001, '/mode']],
  ['a name of blanks', post({ ...newRule, name: ' \t\u00a0 ' }), 400, [10001, '/name']],
  ['a name of 65 characters', post({ ...newRule, name: 'n'.repeat(65) }), 400, [10001, '/name']],
  ['a name with a line break', post({ ...newRule, name: 'a\nb' }), 400, [10001, '/name']],
  ['a name with an invisible character', post({ ...newRule, name: 'a\u200bb' }), 400, [10001, '/name']],
  ['a name with half a surrogate pair', post('{"name":"\\ud800"}'), 400, ...everyField],
  ['a misspelt field', post({ ...newRule, rate_sensitivty: 'low' }), 400, [10001, '/rate_sensitivty']],
  ['a field that the service sets', post({ ...newRule, id: 'x' }), 400, [10001, '/id']],
  ['a field with a slash and a tilde', post({ ...newRule, 'a/b~c': 1 }), 400, [10001, '/a~1b~0c']],
  [
    '__proto__',
    post(JSON.stringify(newRule).replace('{', '{"__proto__":{"mode":1},')),
    400,
    [10001, '/__proto__'],
  ],
  ['constructor', post({ ...newRule, constructor: 1 }), 400, [10001, '/constructor']],
  ['a field twice', post(JSON.stringify(newRule).replace('{', '{"mode":"disabled",')), 400, [10001, '/mode']],
  [
    'a field twice, spelt otherwise',
    post(JSON.stringify(newRule).replace('{', '{"\\u006dode":"disabled",')),
    400,
    [10001, '/mode'],
  ],
  [
    'several faults',
    post({ ...newRule, mode: 'on', name: '', extra: 1 }),
    400,
    [10001, '/name'],
    [10001, '/mode'],
    [10001, '/extra'],
  ],
  ['65 KiB', post(`"${'x'.repeat(65 * 1024)}"`), 413, [10413]],
  [
    '65 KiB in chunks',
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
  ['page past 2^53', list('page=9007199254740993'), 400, [10001, '/page']],
  ['page twice', list('page=1&page=2'), 400, [10001, '/page']],
  ['per_page=0', list('per_page=0'), 400, [10001, '/per_page']],
  ['per_page=1001', list('per_page=1001'), 400, [10001, '/per_page']],
  ['order=id', list('order=id'), 400, [10001, '/order']],
  ['order=__proto__', list('order=__proto__'), 400, [10001, '/order']],
  ['direction=up', list('direction=up'), 400, [10001, '/direction']],
  [
    'all of them',
    list('page=a&per_page=b&order=c&direction=d'),
    400,
    [10001, '/page'],
    [10001, '/per_page'],
    [10001, '/order'],
    [10001, '/direction'],
  ],
];

describe('the rules API refuses', () => {
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
    it(sent, async () => {
      const answer = await call(server, request);
      expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
      expect(answer.status).toBe(status);
      expect(answer.json).toMatchObject({ result: null, success: false, messages: [] });
      const told = answer.json.errors.map((error: { code: number; source?: { pointer: string } }) =>
        error.source ? [error.code, error.source.pointer] : [error.code],
      );
      expect(told).toEqual(errors);
      for (const { message } of answer.json.errors) expect(message).not.toBe('');
    });

  it('with a challenge where there is no token', async () => {
    expect((await call(server, { path: rules, token: null })).headers['www-authenticate']).toBe('Bearer');
    expect((await call(server, { path: rules, token: 'x' })).headers['www-authenticate']).toMatch(/^Bearer/);
  });

  it('with the error chain of a malformed Authorization', async () => {
    const answer = await call(server, { path: rules, token: null, headers: { authorization: 'x' } });
    expect(answer.json.errors).toEqual([
      {
        code: 6003,
        message: 'Invalid request headers',
        error_chain: [{ code: 6111, message: 'Invalid format for Authorization header' }],
      },
    ]);
  });

  it('with the methods that are allowed', async () => {
    const allow = async (path: string) => (await call(server, { method: 'PUT', path })).headers['allow'];
    expect(await allow(rules)).toBe('GET, HEAD, POST, DELETE');
    expect(await allow(`${noRule}/`)).toBe('GET, HEAD, PATCH, DELETE');
    expect(await allow('/user/tokens/verify')).toBe('GET, HEAD');
  });

  it('with a message that says which values are allowed and what came', async () => {
    const answer = await call(server, post({ ...newRule, mode: 'on' }));
    expect(answer.json.errors[0].message).toBe(
      'mode must be one of "enabled", "monitoring", "disabled"; got "on"',
    );
  });

  it('10,000 unknown fields without answering with as many errors', async () => {
    const fields = Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`f${index}`, 1]));
    const answer = await call(server, post({ ...newRule, ...fields }));
    expect(answer.status).toBe(400);
    expect(answer.json.errors.length).toBeLessThanOrEqual(101);
  });

  it('10 MB without keeping them, and goes on', async () => {
    // One that asks for the connection to be closed may lose the answer to that while it still sends.
    const headers = { connection: 'keep-alive' };
    const sent = await call(server, { ...post('x'.repeat(10 * 1024 * 1024)), headers });
    expect(sent.status).toBe(413);
    expect((await call(server, { path: rules })).status).toBe(200);
  });

  it('a body before it is whole, takes the rest, and goes on with what comes behind it', async () => {
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
        await answered('it is refused', 413);
      }
      socket.write(head('GET', 0));
      await answered('the next is answered', 200);
    } finally {
      socket.destroy();
    }
  });

  it('and changes nothing', async () => {
    expect((await call(server, { path: rules })).json.result).toEqual([]);
  });
});
