import { networkInterfaces } from 'node:os';
import { expect, it } from 'vitest';
import { loadConfig } from '../../config/index.ts';
import { embeddedOptionsOf } from './dnsOptions.ts';

const optionsOf = (listen: string, server: string) =>
  embeddedOptionsOf(
    loadConfig({
      environment: {},
      flags: {},
      file: {
        name: 'f',
        text: JSON.stringify({
          dns: { listen: ['127.0.0.2:5399', listen], servers: ['192.0.2.1:53', server] },
        }),
      },
    }),
  );
const ownAddress = Object.values(networkInterfaces())
  .flatMap((addresses) => addresses ?? [])
  .find(({ family, internal }) => family === 'IPv4' && !internal)?.address;

it.each([
  ['127.0.0.1:5353', '127.0.0.1:5353'],
  ['[::1]:5353', '[0:0:0:0:0:0:0:1]:5353'],
  ['0.0.0.0:5353', '127.0.0.1:5353'],
  ['0.0.0.0:5353', `${ownAddress ?? '127.0.0.3'}:5353`],
  ['[::]:5353', `${ownAddress ?? '127.0.0.3'}:5353`],
  ['[::]:5353', '[::1]:5353'],
])('a guard that listens on %s rejects itself, %s, as a server', (listen, server) => {
  expect(() => optionsOf(listen, server)).toThrow(
    `dns.servers contains "${server}", where the guard itself listens (dns.listen: 127.0.0.2:5399, ${listen})`,
  );
});

it.each([
  ['127.0.0.1:5353', '127.0.0.1:5354'],
  ['127.0.0.1:5353', '127.0.0.2:5353'],
  ['0.0.0.0:5353', '203.0.113.77:5353'],
  ['0.0.0.0:5353', '[::1]:5353'],
  ['127.0.0.1:0', '127.0.0.1:53'],
])('a guard that listens on %s may use %s as a server', (listen, server) => {
  expect(optionsOf(listen, server).servers).toHaveLength(2);
});

it('an address that is not an IP address is rejected', () => {
  expect(() => optionsOf('127.0.0.1:5353', '999.1.1.1:53')).toThrow(
    'dns.servers is "999.1.1.1:53"; 999.1.1.1 is not an IP address',
  );
});
