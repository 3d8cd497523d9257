import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { clientAddressBehind } from './clientAddress.ts';

/** The members of a request that are looked at. */
const from = (remoteAddress: string, forwarded?: string): IncomingMessage =>
  ({ socket: { remoteAddress }, headers: { 'x-forwarded-for': forwarded } }) as unknown as IncomingMessage;

describe('the address of a client', () => {
  const behind = clientAddressBehind(['10.0.0.0/8', '192.0.2.7', 'fd00::/8']);

  it.each([
    ['the header of a stranger is not believed', from('203.0.113.9', '198.51.100.1'), '203.0.113.9'],
    ['a proxy tells its client', from('10.1.2.3', '198.51.100.1'), '198.51.100.1'],
    [
      'what a client wrote before it counts for nothing',
      from('10.1.2.3', '1.1.1.1, 198.51.100.1'),
      '198.51.100.1',
    ],
    [
      'proxies in a row are looked through',
      from('10.1.2.3', '198.51.100.1, 192.0.2.7,10.9.9.9'),
      '198.51.100.1',
    ],
    ['what is no address ends the search', from('10.1.2.3', '198.51.100.1, nonsense, 10.9.9.9'), '10.9.9.9'],
    ['a proxy that tells nobody is the client', from('10.1.2.3'), '10.1.2.3'],
    ['an IPv4 proxy on a socket of both families', from('::ffff:10.1.2.3', '2001:db8::1'), '2001:db8::1'],
    ['an IPv6 proxy', from('fd12::1', '198.51.100.1'), '198.51.100.1'],
    ['a list without end', from('10.1.2.3', `1.1.1.1${',10.0.0.1'.repeat(50_000)}`), '10.0.0.1'],
  ])('%s', (_name, request, client) => {
    expect(behind(request)).toBe(client);
  });

  it('is that of the socket where no proxy is trusted', () => {
    expect(clientAddressBehind([])(from('10.1.2.3', '198.51.100.1'))).toBe('10.1.2.3');
  });

  it.each(['nonsense', '10.0.0.0/33', '10.0.0.0/', '10.0.0.0/8/8', '::/129', '10.0.0.0/-1'])(
    'a trusted proxy %s is refused by name',
    (entry) => {
      expect(() => clientAddressBehind([entry])).toThrow(`"${entry}"`);
    },
  );
});
