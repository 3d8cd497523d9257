import type { IncomingMessage } from 'node:http';
import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { anyReaders } from '../../../../test/support/anyReaders.ts';
import { NotYetAdmitted, RateLimitedError } from '../../jsonrpc/index.ts';
import { DEFAULT_LIMITS } from '../callLimits.ts';
import { hashOfSecret } from '../keys/authenticate.ts';
import type { ApiKey } from '../keys/keyStore.ts';
import { SharedKeys } from '../keys/sharedKeys.ts';
import { GatewayMetrics } from '../metrics.ts';
import {
  AdmissionControl,
  type AdmissionOptions,
  type Permit,
  type Refusal,
  type UrlKeys,
} from './admissionControl.ts';
import type { Rates } from './limits/rateLimits.ts';

interface Setup extends Partial<AdmissionOptions> {
  /** API keys by their secrets. */
  readonly keys?: Readonly<Record<string, Partial<ApiKey>>>;
  readonly rates?: Rates;
  readonly keysAgeMs?: number;
}

function setUp({ keys = {}, rates, keysAgeMs = 0, ...options }: Setup = {}) {
  const registry = new Registry();
  const records = new Map(
    Object.entries(keys).map(([secret, key]) => [
      hashOfSecret(secret),
      { id: secret, name: secret, createdOn: '2026-11-20T10:00:00Z', ...key },
    ]),
  );
  let stored: ReadonlyMap<string, ApiKey> = records;
  const expire = (secret: string): void => {
    stored = new Map(
      [...stored].map(([hash, key]) => [hash, key.id === secret ? { ...key, expiresOn: '2026-01-01' } : key]),
    );
  };
  const store = new SharedKeys({
    ageMs: keysAgeMs,
    hadAny: records.size > 0,
    all: () => stored,
    refresh: async () => undefined,
    change: async () => undefined,
  });
  const readers = anyReaders();
  const control = new AdmissionControl(
    { maxInFlight: 2, ratePerAddress: 0, trustedProxies: [], limits: DEFAULT_LIMITS, ...options },
    { readers, keys: store, metrics: new GatewayMetrics(registry), rates },
  );
  const countOf = async (metric: string, labels: Readonly<Record<string, string>>): Promise<number> => {
    const values = (await registry.getSingleMetric(metric)?.get())?.values ?? [];
    const named = Object.entries(labels);
    return values.find((one) => named.every(([name, value]) => one.labels[name] === value))?.value ?? 0;
  };
  const limited = (limit: string) => countOf('floodgate_gateway_limited_total', { limit });
  const callsOf = (key: string, outcome: string) =>
    countOf('floodgate_gateway_key_calls_total', { key, outcome });
  return { control, readers, limited, callsOf, expire };
}

const NO_KEY: UrlKeys = { query: '', key: undefined };
const request = (secret?: string, address = '192.0.2.1', forwarded?: string): IncomingMessage =>
  ({
    headers: {
      ...(secret !== undefined && { authorization: `Bearer ${secret}` }),
      ...(forwarded !== undefined && { 'x-forwarded-for': forwarded }),
    },
    socket: { remoteAddress: address },
  }) as unknown as IncomingMessage; // the members that are read

function permitOf(entered: Permit | Refusal): Permit {
  if ('refusal' in entered) throw entered.refusal;
  return entered;
}
const answerOf = (entered: Permit | Refusal) =>
  'refusal' in entered ? [entered.status, entered.refusal.code, ...entered.headers] : 'admitted';

describe('a rejection has its status, code and headers', () => {
  it('if no key or an unknown one is sent', async () => {
    const { control, limited } = setUp({ keys: { good: {} } });
    for (const secret of [undefined, 'bad'])
      expect(answerOf(control.enter(request(secret), NO_KEY))).toEqual([
        401,
        -32000,
        'www-authenticate',
        'Bearer',
      ]);
    expect(answerOf(control.enter(request('good'), NO_KEY))).toBe('admitted');
    expect(await limited('unauthorized')).toBe(2);
  });

  it('if keys cannot be checked', async () => {
    const { control, limited } = setUp({ keys: { good: {} }, keysAgeMs: 3_600_000 });
    expect(answerOf(control.enter(request('other'), NO_KEY))).toEqual([503, -32002, 'retry-after', '01']);
    expect(await limited('keys_unknown')).toBe(1);
  });

  it('if the client has too many unread responses, whatever other clients have', async () => {
    const { control, readers, limited } = setUp();
    const client = { address: '192.0.2.1' };
    const { perClient } = readers.budget.limits;
    readers.budget.charge(client, perClient - 1);
    expect(answerOf(control.enter(request(), NO_KEY))).toBe('admitted');
    readers.budget.charge(client, 1);
    expect(answerOf(control.enter(request(), NO_KEY))).toEqual([429, -32005, 'retry-after', '01']);
    expect(answerOf(control.enter(request(undefined, '192.0.2.2'), NO_KEY))).toBe('admitted');
    expect(await limited('unsent_bytes')).toBe(1);
  });

  it('if too many requests are in flight', async () => {
    const { control, limited } = setUp({ maxInFlight: 2 });
    const permits = [control.enter(request(), NO_KEY), control.enter(request(), NO_KEY)].map(permitOf);
    expect(answerOf(control.enter(request(), NO_KEY))).toEqual([429, -32005, 'retry-after', '01']);
    expect(await limited('in_flight')).toBe(1);
    permits[0]?.release();
    expect(answerOf(control.enter(request(), NO_KEY))).toBe('admitted');
    expect(answerOf(control.enter(request(), NO_KEY))).toEqual([429, -32005, 'retry-after', '01']);
  });
});

describe('the requests in flight of one address', () => {
  /** Starts requests until one is rejected, and returns the permits of the others. */
  const fill = (control: AdmissionControl, address: string, bodyBytes?: number): Permit[] => {
    const permits: Permit[] = [];
    for (;;) {
      const entered = control.enter(request(undefined, address), NO_KEY, bodyBytes);
      if ('refusal' in entered) return permits;
      permits.push(entered);
    }
  };

  it('occupy as many slots as they leave free, and other addresses are served', () => {
    const { control } = setUp({ maxInFlight: 999 });
    const [first] = fill(control, '192.0.2.1').splice(499);
    expect(fill(control, '192.0.2.1')).toHaveLength(0);
    expect(control.enter(request(undefined, '192.0.2.1'), NO_KEY)).toMatchObject({
      refusal: { message: 'too many requests of this address in flight; try again', data: { limit: 499 } },
    });
    expect(fill(control, '192.0.2.2')).toHaveLength(250);
    first?.release();
    expect(answerOf(control.enter(request(undefined, '192.0.2.3'), NO_KEY))).toBe('admitted');
  });

  it('occupy a slot for each 64 KiB of their bodies', () => {
    const { control } = setUp({ maxInFlight: 2050 });
    const permits = fill(control, '192.0.2.1', 2 * 1024 * 1024);
    expect(permits).toHaveLength(32);
    expect(answerOf(control.enter(request(undefined, '192.0.2.1'), NO_KEY, 100))).toBe('admitted');
    for (const permit of permits) permit.release();
    expect(fill(control, '192.0.2.2', 64 * 1024)).toHaveLength(512);
  });

  it('fit whatever their size, if the client has no others', () => {
    const { control } = setUp({ maxInFlight: 2 });
    expect(fill(control, '192.0.2.1', 100 * 1024 * 1024)).toHaveLength(1);
  });
});

it('a request takes its slot when it starts, not when it is admitted', () => {
  const { control } = setUp({ maxInFlight: 1 });
  const [first, second] = [control.admit(request(), NO_KEY), control.admit(request(), NO_KEY)].map(permitOf);
  expect(second?.start()).toBeUndefined();
  expect(first?.start()).toMatchObject({ status: 429 });
});

it('the API key is read from the query string as `key`, or as `apikey` in any case', () => {
  const { control } = setUp({ keys: { good: {} } });
  const keyOf = (query: string) => {
    const entered = control.admit(request(), { query, key: undefined });
    return 'refusal' in entered ? undefined : entered.keyId;
  };
  for (const query of ['key=good', 'apikey=good', 'ApiKey=good', 'a=b&APIKEY=good'])
    expect(keyOf(query)).toBe('good');
  for (const query of ['', 'Key=good', 'key=bad&key=good', 'key=good&apikey=bad', 'thekey=good'])
    expect(keyOf(query)).toBeUndefined();
});

describe('the API key of a request', () => {
  const { control } = setUp({ keys: { fgk_a: {}, fgk_b: {} } });
  const sent = (headers: object, query = '', key?: string): unknown => {
    const { socket } = request();
    const entered = control.admit({ headers, socket } as unknown as IncomingMessage, { query, key });
    return 'refusal' in entered ? [entered.status, entered.refusal.message] : entered.keyId;
  };

  it('may be in Authorization, in X-API-Key, in the query string or in the path', () => {
    expect(sent({ authorization: 'Bearer fgk_a' })).toBe('fgk_a');
    expect(sent({ 'x-api-key': 'fgk_a' })).toBe('fgk_a');
    expect(sent({}, 'key=fgk_a')).toBe('fgk_a');
    expect(sent({}, '', 'fgk_a')).toBe('fgk_a');
    expect(sent({ 'x-api-key': '' }, 'key=fgk_a')).toBe('fgk_a');
  });

  it('may be repeated, but two different keys are rejected with 401, even if both are valid', () => {
    const all = { authorization: 'Bearer fgk_a', 'x-api-key': 'fgk_a' };
    expect(sent(all, 'key=fgk_a&apikey=fgk_a', 'fgk_a')).toBe('fgk_a');
    const rejected = [401, expect.stringContaining('different API keys')];
    expect(sent({ ...all, 'x-api-key': 'fgk_b' })).toEqual(rejected);
    expect(sent({ 'x-api-key': 'fgk_a' }, '', 'fgk_b')).toEqual(rejected);
    expect(sent({}, 'apikey=fgk_b', 'fgk_a')).toEqual(rejected);
    expect(sent({}, 'key=fgk_a&key=fgk_b')).toEqual(rejected);
    // Headers of the same name arrive as one value.
    expect(sent({ 'x-api-key': 'fgk_a, fgk_b' })).toEqual([401, expect.stringContaining('unknown')]);
  });

  it('is not part of a rejection', () => {
    expect(JSON.stringify(sent({}, 'key=fgk_c', 'fgk_b'))).not.toMatch(/fgk_[bc]/);
    expect(JSON.stringify(sent({}, '', 'fgk_c'))).not.toContain('fgk_c');
  });
});

it('the limits of a key replace those of the server, whether higher or lower, and the others stay', () => {
  const { control } = setUp({
    keys: { all: {}, own: { limits: { logsBlocks: 5_000, traceFilterCount: 10 } } },
  });
  const limitsOf = (secret: string) => permitOf(control.admit(request(secret), NO_KEY)).limits;
  expect(limitsOf('all')).toEqual(DEFAULT_LIMITS);
  expect(limitsOf('own')).toEqual({ ...DEFAULT_LIMITS, logsBlocks: 5_000, traceFilterCount: 10 });
});

describe('the client of a request', () => {
  it('is its key, or without one its address; for IPv6 the /64 network', () => {
    const open = setUp().control;
    const withKeys = setUp({ keys: { good: { id: 'aaaa0001' } } }).control;
    const permits = [
      open.admit(request(), NO_KEY),
      open.admit(request(undefined, '2001:db8:1:2:3::4'), NO_KEY),
      withKeys.admit(request('good'), NO_KEY),
    ].map(permitOf);
    expect(permits.map(({ address, keyId }) => [address(), keyId])).toEqual([
      ['192.0.2.1', undefined],
      ['2001:db8:1:2::/64', undefined],
      ['192.0.2.1', 'aaaa0001'],
    ]);
  });

  it('is the one that a trusted proxy reports', () => {
    const { control } = setUp({ trustedProxies: ['192.0.2.1'] });
    expect(permitOf(control.admit(request(undefined, '192.0.2.1', '198.51.100.7'), NO_KEY)).address()).toBe(
      '198.51.100.7',
    );
    expect(permitOf(control.admit(request(undefined, '192.0.2.2', '198.51.100.7'), NO_KEY)).address()).toBe(
      '192.0.2.2',
    );
  });
});

describe('a rate limit', () => {
  const overOf = (permit: Permit, calls: number) => {
    try {
      permit.admit(calls);
      return 'admitted';
    } catch (error) {
      if (!(error instanceof RateLimitedError)) throw error;
      return [error.message, error.data];
    }
  };

  it('of an address applies to all its requests, and to no other address', async () => {
    const { control, limited } = setUp({ ratePerAddress: 10 });
    const permit = (address?: string) => permitOf(control.admit(request(undefined, address), NO_KEY));
    expect(overOf(permit(), 10)).toBe('admitted');
    expect(overOf(permit(), 10)).toEqual([
      'too many calls from this address: at most 10 per second',
      { limit: 10 },
    ]);
    expect(overOf(permit('192.0.2.2'), 10)).toBe('admitted');
    expect([await limited('address_rate'), await limited('key_rate')]).toEqual([1, 0]);
  });

  it('is divided among several gateways, and is at least 1 at each', () => {
    const keys = { one: { ratePerSecond: 12 }, few: { ratePerSecond: 2 } };
    const { control } = setUp({ keys, instances: 4 });
    const permit = (secret: string) => permitOf(control.admit(request(secret), NO_KEY));
    const message = (rate: number) => `too many calls from this API key: at most ${rate} per second`;
    for (const [secret, rate] of [
      ['one', 3],
      ['few', 1],
    ] as const) {
      expect(overOf(permit(secret), rate)).toBe('admitted');
      expect(overOf(permit(secret), rate)).toEqual([message(rate), { limit: rate }]);
    }
    const limits = setUp({ ratePerAddress: 10, instances: 3 });
    expect(overOf(permitOf(limits.control.admit(request(), NO_KEY)), 3)).toBe('admitted');
    expect(overOf(permitOf(limits.control.admit(request(), NO_KEY)), 1)).toEqual([
      expect.anything(),
      { limit: 3 },
    ]);
  });

  it('of a key applies to that key from any address; calls are counted for the key', async () => {
    const keys = { good: { id: 'aaaa0001', ratePerSecond: 5 }, other: { id: 'aaaa0002', ratePerSecond: 5 } };
    const { control, limited, callsOf } = setUp({ keys });
    const permit = (secret: string, address?: string) =>
      permitOf(control.admit(request(secret, address), NO_KEY));
    expect(overOf(permit('good'), 5)).toBe('admitted');
    expect(overOf(permit('good', '192.0.2.2'), 5)).toEqual([
      'too many calls from this API key: at most 5 per second',
      { limit: 5 },
    ]);
    expect(overOf(permit('other'), 5)).toBe('admitted');
    expect(await limited('key_rate')).toBe(1);
    expect([await callsOf('aaaa0001', 'admitted'), await callsOf('aaaa0001', 'limited')]).toEqual([5, 5]);
  });

  it('of an address counts its rejected calls for the key', async () => {
    const { control, callsOf } = setUp({ ratePerAddress: 4, keys: { good: { id: 'aaaa0001' } } });
    const permit = permitOf(control.admit(request('good'), NO_KEY));
    permit.admit(4);
    expect(() => permit.admit(3)).toThrow(RateLimitedError);
    expect([await callsOf('aaaa0001', 'admitted'), await callsOf('aaaa0001', 'limited')]).toEqual([4, 3]);
  });

  it('does not apply if it is 0 or missing', () => {
    const { control } = setUp({ keys: { good: {} } });
    const permit = permitOf(control.admit(request('good'), NO_KEY));
    for (let i = 0; i < 100; i++) permit.admit(1000);
  });

  it('of a key that is pending returns the calls to the limit of the address', () => {
    const taken: Record<string, number> = {};
    const rates: Rates = {
      take(caller, _, calls) {
        if (caller.startsWith('key_rate')) throw new NotYetAdmitted(Promise.resolve());
        taken[caller] = (taken[caller] ?? 0) + calls;
        return 0;
      },
      refund: (caller, calls) => (taken[caller] = (taken[caller] ?? 0) - calls),
    };
    const keys = { good: { ratePerSecond: 5 } };
    for (const ratePerAddress of [10, 0]) {
      const { control } = setUp({ ratePerAddress, rates, keys });
      expect(() => permitOf(control.admit(request('good'), NO_KEY)).admit(3)).toThrow();
    }
    expect(taken).toEqual({ 'address_rate 192.0.2.1': 0 });
  });
});

it('a key with a list of methods may call only these; other calls are counted', async () => {
  const { control, callsOf } = setUp({ keys: { good: { id: 'aaaa0001', methods: ['eth_call'] }, any: {} } });
  const permit = permitOf(control.admit(request('good'), NO_KEY));
  expect([permit.isMethodAllowed('eth_call'), permit.isMethodAllowed('trace_filter')]).toEqual([true, false]);
  expect(await callsOf('aaaa0001', 'forbidden')).toBe(1);
  expect(permitOf(control.admit(request('any'), NO_KEY)).isMethodAllowed('trace_filter')).toBe(true);
});

it('the access of a credential can be checked again, for example after its key has expired', () => {
  const { control, expire } = setUp({ keys: { good: {} } });
  const credential = control.credentialOf(request(), { query: 'key=good', key: undefined });
  expect(control.credentialOf(request('good'), NO_KEY)).toBe(credential);
  expect(control.accessBy(credential)).toMatchObject({ isGranted: true, key: { id: 'good' } });
  expect(control.accessBy(control.credentialOf(request(), NO_KEY))).toMatchObject({ isGranted: false });
  expire('good');
  expect(control.accessBy(credential)).toMatchObject({ isGranted: false });
});
