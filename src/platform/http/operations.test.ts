import { pino } from 'pino';
import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { anyReaders } from '../../../test/support/anyReaders.ts';
import { createListener } from './listener.ts';
import { operations } from './operations.ts';

it('HEAD requests of monitoring get the status of /healthz and /readyz without a body', async () => {
  let ready = true;
  const listener = createListener({}, { logger: pino({ level: 'silent' }), readers: anyReaders() });
  await listener.register(operations, {
    roles: [],
    readiness: () => ({ ready, checks: {} }),
    metrics: () => new Registry(),
  });
  const statusOf = async (url: string): Promise<number> => {
    const response = await listener.inject({ method: 'HEAD', url, headers: { host: 'x' } });
    expect(response.body).toBe('');
    return response.statusCode;
  };
  expect(await statusOf('/healthz')).toBe(200);
  expect(await statusOf('/readyz')).toBe(200);
  ready = false;
  expect(await statusOf('/readyz')).toBe(503);
  await listener.close();
});
