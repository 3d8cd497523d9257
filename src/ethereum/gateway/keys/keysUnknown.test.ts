import type { IncomingMessage } from 'node:http';
import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { DEFAULT_LIMITS } from '../callLimits.ts';
import { AdmissionControl } from '../http/admissionControl.ts';
import { GatewayMetrics } from '../metrics.ts';
import { hashOfSecret } from './authenticate.ts';
import { SharedKeys } from './sharedKeys.ts';

const MINUTE_MS = 60_000;

it('requests get 503 while keys cannot be checked: they are neither admitted nor unauthorized', () => {
  const stored = new Map([[hashOfSecret('good'), { id: 'aaaa0001', name: 'one', createdOn: 'now' }]]);
  const records = {
    ageMs: 4 * MINUTE_MS,
    hadAny: true,
    all: (): ReadonlyMap<string, unknown> => stored,
    refresh: async () => undefined,
    change: async () => undefined,
  };
  const admission = (): AdmissionControl =>
    new AdmissionControl(
      { maxInFlight: 10, ratePerAddress: 0, trustedProxies: [], limits: DEFAULT_LIMITS },
      {
        readers: { exceeded: () => undefined, freeConnection: () => undefined } as never, // only these members are used
        keys: new SharedKeys(records),
        metrics: new GatewayMetrics(new Registry()),
      },
    );
  const status = (control: AdmissionControl, secret: string) => {
    const request = { headers: { authorization: `Bearer ${secret}` } } as IncomingMessage;
    const entered = control.enter(request, { query: '', key: undefined });
    return 'refusal' in entered ? [entered.status, ...entered.headers] : 'let in';
  };
  const closed = admission();
  expect(status(closed, 'good')).toBe('let in');
  expect(status(closed, 'wrong')).toEqual([401, 'www-authenticate', 'Bearer']);
  records.ageMs = 6 * MINUTE_MS;
  for (const secret of ['good', 'wrong']) expect(status(closed, secret)).toEqual([503, 'retry-after', '1']);
  // The store came back without its keys: every key is rejected, and a key is still required.
  stored.clear();
  expect(status(admission(), 'any')[0]).toBe(503);
  // No key ever existed: no key is required.
  records.hadAny = false;
  expect(status(admission(), 'any')).toBe('let in');
});
