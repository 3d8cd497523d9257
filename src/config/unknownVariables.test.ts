import { expect, it } from 'vitest';
import { loadConfig } from './load.ts';
import { unknownVariables } from './unknownVariables.ts';

it('strayVariables ignores variables that Kubernetes sets for Services', () => {
  const environment = {
    FLOODGATE_SERVICE_HOST: '10.0.0.1',
    FLOODGATE_SERVICE_PORT: '8420',
    FLOODGATE_SERVICE_PORT_HTTP: '8420',
    FLOODGATE_PORT_8420_TCP: 'tcp://10.0.0.1:8420',
    FLOODGATE_PORT_8420_TCP_PROTO: 'tcp',
    FLOODGATE_PORT_8420_TCP_PORT: '8420',
    FLOODGATE_PORT_8420_TCP_ADDR: '10.0.0.1',
    FLOODGATE_GUARD_PORT: 'udp://10.0.0.2:53',
    FLOODGATE_GUARD_SERVICE_HOST: '10.0.0.2',
    FLOODGATE_GUARD_PORT_53_UDP: 'udp://10.0.0.2:53',
    OTHER: 'x',
  };
  expect(unknownVariables(environment)).toEqual([]);
});

it('FLOODGATE_PORT=tcp://… does not set the port and is reported with advice', () => {
  const environment = { FLOODGATE_PORT: 'tcp://10.0.0.1:8420' };
  expect(loadConfig({ environment, flags: {} }).port).toBe(8420);
  expect(loadConfig({ environment, flags: { port: '1234' } }).port).toBe(1234);
  expect(unknownVariables(environment)).toEqual([
    { variable: 'FLOODGATE_PORT', advice: expect.stringContaining('--port') },
  ]);
  expect(unknownVariables({ FLOODGATE_PORT: '9000' })).toEqual([]);
});

it.each([
  ['FLOODGATE_PROT', 'FLOODGATE_PORT'],
  ['FLOODGATE_LOGLEVEL', 'FLOODGATE_LOG_LEVEL'],
  ['FLOODGATE_UPSTREAMS', 'FLOODGATE_UPSTREAM'],
  ['FLOODGATE_GATEWAY_TRUSTED_PROXIES', 'FLOODGATE_HTTP_TRUSTED_PROXIES'],
  ['FLOODGATE_', 'FLOODGATE_URL'],
])('%s is reported as unknown, with %s as the most similar variable', (variable, known) => {
  const [stray] = unknownVariables({ [variable]: 'a secret' });
  expect(stray?.advice).toMatch(new RegExp(`${known}$`));
  expect(JSON.stringify(stray)).not.toContain('a secret');
});
