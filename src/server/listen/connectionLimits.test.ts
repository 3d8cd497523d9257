import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../config/index.ts';
import { connectionLimitsOf, type MaxConnectionsOptions, maxConnectionsOf } from './connectionLimits.ts';

const configOf = (flags: Readonly<Record<string, string>> = {}) => loadConfig({ environment: {}, flags });

/** Returns the maximum, and the fields that were logged. */
function maxOf(options: Partial<MaxConnectionsOptions>, flags?: Readonly<Record<string, string>>) {
  const lines: object[] = [];
  const log = { warn: (fields: object) => void lines.push(fields) };
  const all = {
    dnsDescriptors: 0,
    waiting: 0,
    processes: 1,
    perConnection: 1,
    limit: 1_000_000,
    ...options,
  } as const;
  return { max: maxConnectionsOf(configOf(flags), all, log), logged: lines[0] };
}

describe('the maximum of HTTP connections', () => {
  it('is 16,384 by default, divided by the number of workers', () => {
    expect(maxOf({})).toEqual({ max: 16_384, logged: undefined });
    expect(maxOf({ processes: 4 })).toEqual({ max: 4_096, logged: undefined });
  });

  it('leaves descriptors for files, nodes and the guard', () => {
    expect(maxOf({ limit: 4_000 })).toEqual({ max: 3_840, logged: undefined });
    expect(maxOf({ limit: 4_000, dnsDescriptors: 1_100 })).toEqual({ max: 2_740, logged: undefined });
    expect(maxOf({ limit: 4_000, waiting: 512 }).max).toBe(3_328);
    expect(maxOf({ limit: 4_000 }, { upstream: 'http://a,http://b' }).max).toBe(3_840 - 2 * 83);
    expect(maxOf({ limit: 4_000, perConnection: 2 }).max).toBe(1_920);
  });

  it('is the configured one, unless the limit of open files is too low', () => {
    expect(maxOf({}, { 'http.maxConnections': '100000' })).toEqual({ max: 100_000, logged: undefined });
    expect(maxOf({ limit: 4_000 }, { 'http.maxConnections': '3000' }).logged).toBeUndefined();
    expect(maxOf({ limit: 2_000 }, { 'http.maxConnections': '3000' })).toEqual({
      max: 1_840,
      logged: {
        limit: 2_000,
        maxConnections: 1_840,
        dnsDescriptors: 0,
        advice: 'raise the limit (ulimit -n, LimitNOFILE= of systemd) to 3160 or more',
      },
    });
  });

  it('is a quarter of the descriptors, and logged, if the limit does not suffice for the guard', () => {
    expect(maxOf({ limit: 1_024, dnsDescriptors: 1_100 })).toEqual({
      max: 216,
      logged: {
        limit: 1_024,
        maxConnections: 216,
        dnsDescriptors: 1_100,
        advice: 'raise the limit (ulimit -n, LimitNOFILE= of systemd) to 2284 or more',
      },
    });
    expect(maxOf({ limit: 128 }).max).toBe(16);
  });

  it('has a part for operators if they have a separate listener in the same process', async () => {
    const limitsOf = (hasTwoListeners: boolean) => {
      const metrics = new Registry();
      const first = { dnsDescriptors: 0, hasTwoListeners };
      const log = { warn: () => undefined };
      const config = configOf({ 'http.maxConnections': '100', 'ops.port': '0' });
      return connectionLimitsOf(config, { workers: 1, first }, { metrics, log });
    };
    expect([limitsOf(true).clients.max, limitsOf(true).operators.max]).toEqual([88, 12]);
    expect([limitsOf(false).clients.max, limitsOf(false).operators.max]).toEqual([100, 100]);
  });
});
