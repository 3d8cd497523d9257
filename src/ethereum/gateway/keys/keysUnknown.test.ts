import type { IncomingMessage } from 'node:http';
import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { AdmissionControl } from '../admissionControl.ts';
import { GatewayMetrics } from '../metrics.ts';
import { hashOfSecret } from './authenticate.ts';
import { SharedKeys } from './sharedKeys.ts';

const MINUTE_MS = 60_000;

it('keys that cannot be checked any more are 503, neither let in nor told that they are wrong', () => {
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
      { maxInFlight: 10, ratePerAddress: 0, trustedProxies: [] },
      {
        readers: { refuses: () => false, givePlace: () => undefined } as never, // all that is used of them
        keys: new SharedKeys(records),
        metrics: new GatewayMetrics(new Registry()),
      },
    );
  const status = (control: AdmissionControl, secret: string) => {
    const request = { headers: { authorization: `Bearer ${secret}` } } as IncomingMessage;
    const entered = control.enter(request, '');
    return 'refusal' in entered ? [entered.status, ...entered.headers] : 'let in';
  };
  const closed = admission();
  expect(status(closed, 'good')).toBe('let in');
  expect(status(closed, 'wrong')).toEqual([401, 'www-authenticate', 'Bearer']);
  records.ageMs = 6 * MINUTE_MS;
  for (const secret of ['good', 'wrong']) expect(status(closed, secret)).toEqual([503, 'retry-after', '1']);
  // Of a store that came back without its keys none is good, and one is needed.
  stored.clear();
  expect(status(admission(), 'any')[0]).toBe(503);
  // Where no key was ever known nobody needs one.
  records.hadAny = false;
  expect(status(admission(), 'any')).toBe('let in');
});
