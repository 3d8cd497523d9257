import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  DEFAULT_LIMITS,
  FilterMemory,
  Gateway,
  GatewayMetrics,
  type KeyStore,
} from '../../src/ethereum/gateway/index.ts';
import { createListener, serveInOrder } from '../../src/platform/http/index.ts';
import { Scheduler } from '../../src/platform/scheduler/index.ts';
import { rulesApi } from '../../src/rules/api/index.ts';
import type {
  AccessListStore,
  AuditLog,
  RuleStore,
  TokenStore,
  ZonePolicyStore,
} from '../../src/rules/index.ts';
import { anyReaders } from '../support/anyReaders.ts';
import { anyUnfinished } from '../support/anyUnfinished.ts';

const RULES = '/client/v4/accounts/a/network/advanced_dns_protection/configs/dns_protection/rules';

const lines: string[] = [];
const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) });
const readers = anyReaders();
const listener = createListener({}, { logger: log, sendBadUrl: (reply) => reply, readers });
const fault = new TypeError('the secret inside');
let url = '';

const NO_WEB_SOCKETS = {
  maxConnections: 0,
  maxConnectionsPerAddress: 0,
  maxConnectionsPerKey: 0,
  maxSubscriptionsPerAddress: 0,
  maxSubscriptionsPerKey: 0,
  maxUnsentBytes: 0,
  idleTimeoutMs: 0,
};

/** Serves both interfaces with failing stores and methods, which simulate a bug. */
beforeAll(async () => {
  const failing = new Proxy({}, { get: () => () => Promise.reject(fault) });
  await listener.register(rulesApi, {
    prefix: '/client/v4',
    rules: failing as RuleStore, // every method of the proxy rejects
    lists: failing as AccessListStore,
    zonePolicies: failing as ZonePolicyStore,
    tokens: failing as TokenStore,
    audit: failing as AuditLog,
    configuredTokens: ['token'],
  });
  const method = { name: 'trace_filter', handle: () => Promise.reject(fault) };
  const gateway = new Gateway(
    {
      corsOrigins: [],
      maxBodyBytes: 1_000,
      maxAnswerBytes: 1_000,
      maxInFlight: 10,
      ratePerAddress: 0,
      trustedProxies: [],
      methods: [],
      limits: DEFAULT_LIMITS,
      compression: 'auto',
      webSocket: NO_WEB_SOCKETS,
    },
    {
      networks: new Map([['mainnet', [method]]]),
      live: new Map(),
      chainIdOf: () => undefined,
      readers,
      unfinished: anyUnfinished(),
      scheduler: new Scheduler(),
      keys: { isEmpty: () => true } as KeyStore, // no keys, so no other method is called
      metrics: new GatewayMetrics(new Registry()),
      filterMemory: new FilterMemory(),
      log,
    },
  );
  serveInOrder(listener.server, { interceptor: gateway });
  await listener.listen({ host: '127.0.0.1', port: 0 });
  url = `http://127.0.0.1:${(listener.server.address() as AddressInfo).port}`; // an address with a port, because it listens on TCP
});
afterAll(() => listener.close());

it.each<[string, string, RequestInit]>([
  [
    'the gateway',
    '/v1/mainnet',
    {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"jsonrpc":"2.0","id":1,"method":"trace_filter","params":[]}',
    },
  ],
  ['the rules API', RULES, { headers: { authorization: 'Bearer token' } }],
])(
  'an internal error of %s is logged once with its requestId, and the response contains the id but no details',
  async (_, path, init) => {
    lines.length = 0;
    const answer = await fetch(url + path, init);
    const text = await answer.text();
    const id = answer.headers.get('x-request-id') ?? 'none';
    expect(text).toContain(id);
    expect(text).not.toContain('secret inside');
    const [line = '', ...others] = lines.filter((one) => one.includes('the secret inside'));
    expect(others).toEqual([]);
    expect(JSON.parse(line)).toMatchObject({ requestId: id });
    // Fastify's default name is not used, and the member occurs once (parsing would hide a duplicate).
    expect(line).not.toContain('reqId');
    expect(line.split('"requestId"')).toHaveLength(2);
  },
);
