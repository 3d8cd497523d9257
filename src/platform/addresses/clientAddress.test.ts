import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { clientAddressReader } from './clientAddress.ts';

/** A request with the members that are read. */
const from = (remoteAddress: string, forwarded?: string): IncomingMessage =>
  ({ socket: { remoteAddress }, headers: { 'x-forwarded-for': forwarded } }) as unknown as IncomingMessage;

describe('the address of a client', () => {
  const behind = clientAddressReader(['10.0.0.0/8', '192.0.2.7', 'fd00::/8']);

  it.each([
    ['the header of an untrusted peer is ignored', from('203.0.113.9', '198.51.100.1'), '203.0.113.9'],
    ['a trusted proxy reports its client', from('10.1.2.3', '198.51.100.1'), '198.51.100.1'],
    ['entries forged by the client are ignored', from('10.1.2.3', '1.1.1.1, 198.51.100.1'), '198.51.100.1'],
    [
      'a chain of trusted proxies is skipped',
      from('10.1.2.3', '198.51.100.1, 192.0.2.7,10.9.9.9'),
      '198.51.100.1',
    ],
    [
      'the search ends at an invalid address',
      from('10.1.2.3', '198.51.100.1, nonsense, 10.9.9.9'),
      '10.9.9.9',
    ],
    ['a proxy appends the port', from('10.1.2.3', '198.51.100.1:4711, 10.9.9.9:80'), '198.51.100.1'],
    ['a proxy appends the port of IPv6', from('10.1.2.3', '[2001:db8::1]:4711'), '2001:db8::1'],
    ['a proxy writes brackets', from('10.1.2.3', '[2001:db8::1]'), '2001:db8::1'],
    ['the end of an IPv6 address is not a port', from('10.1.2.3', '2001:db8::1:4711'), '2001:db8::1:4711'],
    ['a proxy without the header is the client', from('10.1.2.3'), '10.1.2.3'],
    ['an IPv4 proxy on a dual-stack socket', from('::ffff:10.1.2.3', '2001:db8::1'), '2001:db8::1'],
    ['an IPv6 proxy', from('fd12::1', '198.51.100.1'), '198.51.100.1'],
    ['a very long list', from('10.1.2.3', `1.1.1.1${',10.0.0.1'.repeat(50_000)}`), '10.0.0.1'],
  ])('%s', (_name, request, client) => {
    expect(behind(request)).toBe(client);
  });

  it('is the socket address if no proxy is trusted', () => {
    expect(clientAddressReader([])(from('10.1.2.3', '198.51.100.1'))).toBe('10.1.2.3');
  });

  it.each(['nonsense', '10.0.0.0/33', '10.0.0.0/', '10.0.0.0/8/8', '::/129', '10.0.0.0/-1'])(
    'an invalid trusted proxy %s is named in the error',
    (entry) => {
      expect(() => clientAddressReader([entry])).toThrow(`"${entry}"`);
    },
  );
});
