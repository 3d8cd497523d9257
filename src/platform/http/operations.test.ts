import { pino } from 'pino';
import { Counter, Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { anyReaders } from '../../../test/support/anyReaders.ts';
import { createListener } from './listener.ts';
import { type OperationsOptions, operations } from './operations.ts';

async function listenerOf(options: Partial<OperationsOptions>) {
  const listener = createListener({}, { logger: pino({ level: 'silent' }), readers: anyReaders() });
  await listener.register(operations, {
    roles: [],
    readiness: () => ({ ready: true, checks: {} }),
    metrics: () => new Registry(),
    ...options,
  });
  const send = (url: string, method: 'GET' | 'HEAD' = 'GET') =>
    listener.inject({ method, url, headers: { host: 'x' } });
  return { send, close: () => listener.close() };
}

it('HEAD requests of monitoring get the status of /healthz and /readyz without a body', async () => {
  let ready = true;
  const { send, close } = await listenerOf({ readiness: () => ({ ready, checks: {} }) });
  const statusOf = async (url: string): Promise<number> => {
    const response = await send(url, 'HEAD');
    expect(response.body).toBe('');
    return response.statusCode;
  };
  expect(await statusOf('/healthz')).toBe(200);
  expect(await statusOf('/readyz')).toBe(200);
  ready = false;
  expect(await statusOf('/readyz')).toBe(503);
  await close();
});

it('concurrent requests for metrics share a response, which is read after their arrival', async () => {
  const registry = new Registry();
  const counter = new Counter({ name: 'requests', help: 'Requests.', registers: [registry] });
  let reads = 0;
  const metrics = async (): Promise<Registry> => {
    reads++;
    return registry;
  };
  const { send, close } = await listenerOf({ metrics });
  const responses = Array.from({ length: 100 }, () => send('/metrics'));
  const first = await responses[0];
  expect(first?.body).toContain('requests 0');
  expect(first?.headers['content-type']).toBe(registry.contentType);
  counter.inc();
  expect((await send('/metrics')).body).toContain('requests 1');
  for (const response of responses) expect((await response).statusCode).toBe(200);
  expect(reads).toBeLessThanOrEqual(3);
  await close();
});
