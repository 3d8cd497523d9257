import type { NetworkInterfaceInfo } from 'node:os';
import { expect, it } from 'vitest';
import { hostAddresses, isWildcard } from './hostAddresses.ts';

const v4 = (address: string) => ({ address, family: 'IPv4' }) as NetworkInterfaceInfo;
const v6 = (address: string, scopeid = 0) => ({ address, family: 'IPv6', scopeid }) as NetworkInterfaceInfo;
const INTERFACES = {
  lo: [v4('127.0.0.1'), v6('::1')],
  eth0: [v4('192.0.2.1'), v4('192.0.2.2'), v6('2001:db8::1'), v6('fe80::1', 2)],
  eth1: [v4('192.0.2.1')],
};

it('0.0.0.0 covers the IPv4 addresses and :: all addresses, without duplicates and link-local ones', () => {
  expect(hostAddresses('0.0.0.0', INTERFACES)).toEqual(['127.0.0.1', '192.0.2.1', '192.0.2.2']);
  expect(hostAddresses('::', INTERFACES)).toEqual([
    '127.0.0.1',
    '::1',
    '192.0.2.1',
    '192.0.2.2',
    '2001:db8::1',
  ]);
});

it.each([
  ['0.0.0.0', true],
  ['::', true],
  ['0:0:0:0:0:0:0:0', true],
  ['::0.0.0.0', true],
  ['::1', false],
  ['127.0.0.1', false],
])('%s is a wildcard: %s', (host, expected) => expect(isWildcard(host)).toBe(expected));
