import { expect, it } from 'vitest';
import { loadConfig } from './load.ts';
import { strayVariables } from './strayVariables.ts';

it('what Kubernetes sets for Services is known, and not told', () => {
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
  expect(strayVariables(environment)).toEqual([]);
});

it('FLOODGATE_PORT=tcp://… sets no port, and says what to set', () => {
  const environment = { FLOODGATE_PORT: 'tcp://10.0.0.1:8420' };
  expect(loadConfig({ environment, flags: {} }).port).toBe(8420);
  expect(loadConfig({ environment, flags: { port: '1234' } }).port).toBe(1234);
  expect(strayVariables(environment)).toEqual([
    { variable: 'FLOODGATE_PORT', advice: expect.stringContaining('--port') },
  ]);
  expect(strayVariables({ FLOODGATE_PORT: '9000' })).toEqual([]);
});

it.each([
  ['FLOODGATE_PROT', 'FLOODGATE_PORT'],
  ['FLOODGATE_LOGLEVEL', 'FLOODGATE_LOG_LEVEL'],
  ['FLOODGATE_UPSTREAMS', 'FLOODGATE_UPSTREAM'],
  ['FLOODGATE_GATEWAY_TRUSTED_PROXIES', 'FLOODGATE_HTTP_TRUSTED_PROXIES'],
  ['FLOODGATE_', 'FLOODGATE_URL'],
])('%s is unknown; %s is the nearest', (variable, known) => {
  const [stray] = strayVariables({ [variable]: 'a secret' });
  expect(stray?.advice).toMatch(new RegExp(`${known}$`));
  expect(JSON.stringify(stray)).not.toContain('a secret');
});
