import type { IncomingMessage } from 'node:http';
import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { anyReaders } from '../../../../test/support/anyReaders.ts';
import { DEFAULT_LIMITS } from '../callLimits.ts';
import { AdmissionControl } from '../http/admissionControl.ts';
import { GatewayMetrics } from '../metrics.ts';
import { hashOfSecret } from './authenticate.ts';
import { SharedKeys } from './sharedKeys.ts';

const MINUTE_MS = 60_000;

it('while the store is away, known keys are valid for the grace time, and unknown keys get 503', () => {
  const key = { id: 'aaaa0001', name: 'one', createdOn: 'now' };
  const stored = new Map<string, object>([
    [hashOfSecret('good'), key],
    [hashOfSecret('revoked'), { ...key, revokedOn: 'now' }],
    [hashOfSecret('expired'), { ...key, expiresOn: '2026-01-01T00:00:00Z' }],
  ]);
  const records = {
    ageMs: 0,
    hadAny: true,
    all: (): ReadonlyMap<string, unknown> => stored,
    refresh: async () => undefined,
    change: async () => undefined,
  };
  let graceMs: number | undefined;
  const admission = (): AdmissionControl =>
    new AdmissionControl(
      { maxInFlight: 10, ratePerAddress: 0, trustedProxies: [], limits: DEFAULT_LIMITS },
      {
        readers: anyReaders(),
        keys: new SharedKeys(records, graceMs),
        metrics: new GatewayMetrics(new Registry()),
      },
    );
  const status = (control: AdmissionControl, secret?: string) => {
    const headers = secret === undefined ? {} : { authorization: `Bearer ${secret}` };
    const request = { headers, socket: {} } as IncomingMessage;
    const entered = control.enter(request, { query: '', key: undefined });
    return 'refusal' in entered ? [entered.status, ...entered.headers] : 'let in';
  };
  const closed = admission();
  expect(status(closed, 'good')).toBe('let in');
  expect(status(closed, 'wrong')).toEqual([401, 'www-authenticate', 'Bearer']);
  const unavailable = [503, 'retry-after', '01'];
  records.ageMs = 600 * MINUTE_MS;
  expect(status(closed, 'good')).toBe('let in');
  // An unknown key may have been created meanwhile.
  expect(status(closed, 'wrong')).toEqual(unavailable);
  for (const secret of ['revoked', 'expired', undefined]) expect(status(closed, secret)[0]).toBe(401);
  graceMs = 500 * MINUTE_MS;
  for (const secret of ['good', 'wrong']) expect(status(admission(), secret)).toEqual(unavailable);
  expect(status(admission(), 'revoked')[0]).toBe(401);
  // The store was never read, so it is unknown whether a key is required.
  records.ageMs = Number.POSITIVE_INFINITY;
  records.hadAny = false;
  for (const secret of ['any', undefined]) expect(status(admission(), secret)).toEqual(unavailable);
  // No key ever existed: no key is required.
  records.ageMs = 600 * MINUTE_MS;
  records.hadAny = false;
  expect(status(admission(), 'any')).toBe('let in');
});
