import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Fastify, { type FastifyInstance } from 'fastify';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hashSecret, newTokenSecret, type RulesStorage, wallClock } from '../index.ts';
import { openRulesStorage } from '../store/lmdb/index.ts';
import { ConsoleSessions } from './http/consoleSessions.ts';
import { SessionCookies } from './http/sessionCookies.ts';
import { rulesApi } from './rulesApi.ts';

const HOUR_MICROS = 60 * 60 * 1_000_000;
const actor = { by: 'cli:test', from: 'local' };

let folder: string;
let storage: RulesStorage;
let server: FastifyInstance;
let sessions: ConsoleSessions;
let now: number;
let token: { id: string; hash: string; root: string };
let secret: string;
let bearer: string;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'floodgate-console-sessions-'));
  storage = openRulesStorage(folder);
  now = wallClock();
  const cookies = new SessionCookies(({ headers }) => headers['x-forwarded-proto'] === 'https');
  sessions = new ConsoleSessions({ now: () => now }, { store: storage.sessions, cookies });
  server = Fastify();
  const { staleSeconds: _, sessions: __, ...stores } = storage;
  const options = { prefix: '/client/v4', configuredTokens: [], consoleSessions: sessions };
  await server.register(rulesApi, { ...stores, ...options });
  bearer = newTokenSecret();
  token = await makeToken(bearer);
  secret = await sessions.open(token, '192.0.2.1');
});
afterEach(async () => {
  await server.close();
  await storage.close();
  rmSync(folder, { recursive: true });
});

async function makeToken(value: string): Promise<typeof token> {
  const hash = hashSecret(value).toString('hex');
  const wanted = {
    hash,
    label: 'test',
    accounts: 'all',
    permissions: ['tokens:read'],
    expires_on: null,
  } as const;
  const { id } = await storage.tokens.create(wanted, actor);
  return { id, hash, root: id };
}

/** Sends a request with the headers of the console. A header that is undefined is not sent. */
async function send(headers: Readonly<Record<string, string | undefined>> = {}) {
  const all = {
    host: '127.0.0.1:8420',
    cookie: `floodgate-8420=${secret}`,
    'x-floodgate-console': '1',
    'sec-fetch-site': 'same-origin',
    ...headers,
  };
  const sent = Object.entries(all).filter(([, value]) => value !== undefined);
  const answer = await server.inject({
    method: 'GET',
    url: '/client/v4/user/tokens/current',
    headers: Object.fromEntries(sent),
  });
  return { status: answer.statusCode, headers: answer.headers, id: answer.json().result?.id };
}

describe('the cookie of a console session', () => {
  it('stands for its token, and responses are not stored', async () => {
    const { status, headers, id } = await send();
    expect([status, id, headers['cache-control']]).toEqual([200, token.id, 'no-store']);
  });

  it.each([
    ['without the header of the console', { 'x-floodgate-console': undefined }, 401],
    ['with another value of the header', { 'x-floodgate-console': '0' }, 401],
    ['from another site', { 'sec-fetch-site': 'cross-site' }, 401],
    [
      'from another port of this host',
      { 'sec-fetch-site': 'same-site', origin: 'http://127.0.0.1:9999' },
      401,
    ],
    ['from the address bar', { 'sec-fetch-site': 'none' }, 401],
    ['from an unknown page on loopback', { 'sec-fetch-site': undefined }, 401],
    [
      'from this origin in an old browser',
      { 'sec-fetch-site': undefined, origin: 'http://127.0.0.1:8420' },
      200,
    ],
    [
      'from https, although this is http',
      { 'sec-fetch-site': undefined, origin: 'https://127.0.0.1:8420' },
      401,
    ],
    ['from an opaque origin', { 'sec-fetch-site': undefined, origin: 'null' }, 401],
    ['with the cookie of another port', { host: '127.0.0.1:8421' }, 401],
    ['with two cookies of this name', { cookie: `floodgate-8420=${'x'.repeat(43)}; floodgate-8420=` }, 401],
    ['over TLS with a cookie that plain HTTP may have set', { 'x-forwarded-proto': 'https' }, 401],
    ['with an empty Authorization header', { authorization: '' }, 400],
    ['with another token', { authorization: `Bearer ${newTokenSecret()}` }, 401],
  ])('is judged %s', async (_name, headers, status) => {
    const cookie = 'cookie' in headers ? { cookie: `${headers.cookie}${secret}` } : {};
    expect((await send({ ...headers, ...cookie })).status).toBe(status);
  });

  it('over plain HTTP to another machine, needs an Origin or a Referer of this origin', async () => {
    const lan = { host: '192.0.2.7', cookie: `floodgate-80=${secret}`, 'sec-fetch-site': undefined };
    const own = { ...lan, referer: 'http://192.0.2.7/console/traces?network=side' };
    expect((await send(own)).status).toBe(200);
    for (const other of [
      lan,
      { ...lan, referer: 'http://192.0.2.70/console/' },
      { ...lan, referer: 'http://192.0.2.7:81/console/' },
      { ...lan, referer: 'http://192.0.2.7@example.com/' },
      { ...lan, referer: 'https://192.0.2.7/console/' },
      { ...lan, referer: 'http://example.com/?http://192.0.2.7/' },
      { ...own, origin: 'http://192.0.2.7:81' },
      { ...own, 'sec-fetch-site': 'same-site' },
      { ...own, 'x-floodgate-console': undefined },
    ])
      expect([other, (await send(other)).status]).toEqual([other, 401]);
  });

  it('is bound to the host and Secure over TLS', async () => {
    const headers = { 'x-forwarded-proto': 'https', host: 'floodgate.example' };
    expect((await send({ ...headers, cookie: `__Host-floodgate-443=${secret}` })).status).toBe(200);
    const request = { headers } as unknown as Parameters<SessionCookies['cookie']>[0];
    expect(sessions.cookies.cookie(request, 'x', 9)).toBe(
      '__Host-floodgate-443=x; Path=/; Max-Age=9; HttpOnly; SameSite=Strict; Secure',
    );
  });

  it('loses to an Authorization header', async () => {
    const other = newTokenSecret();
    const { id } = await makeToken(other);
    expect(await send({ authorization: `Bearer ${other}` })).toMatchObject({ status: 200, id });
  });

  it('ends after 12 hours', async () => {
    now += 12 * HOUR_MICROS - 1;
    expect((await send()).status).toBe(200);
    now += 1;
    expect((await send()).status).toBe(401);
    expect(await sessions.list()).toEqual([]);
  });

  it('ends with its token, and when it is removed', async () => {
    const other = await sessions.open(token, '192.0.2.1');
    await sessions.end(other);
    expect((await send({ cookie: `floodgate-8420=${other}` })).status).toBe(401);
    await storage.tokens.revoke(token.id, actor);
    expect((await send()).status).toBe(401);
  });
});

it('a sign-in link works once, within ten minutes, and is not a session', async () => {
  const code = await sessions.newLink(token, 'local');
  expect((await send({ cookie: `floodgate-8420=${code}` })).status).toBe(401);
  const taken = await Promise.all([sessions.takeLink(code), sessions.takeLink(code)]);
  expect(taken.filter((one) => one !== undefined)).toEqual([token]);
  const late = await sessions.newLink(token, 'local');
  now += HOUR_MICROS / 6;
  expect(await sessions.takeLink(late)).toBeUndefined();
  expect(await sessions.takeLink(secret)).toBeUndefined();
  expect((await send()).status).toBe(200);
});
