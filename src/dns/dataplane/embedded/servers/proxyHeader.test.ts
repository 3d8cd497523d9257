import { expect, it } from 'vitest';
import { proxyHeader } from './proxyHeader.ts';

const SIGNATURE = '0d0a0d0a000d0a515549540a';

it.each([
  {
    name: 'encodes UDP over IPv4',
    header: proxyHeader({ host: '198.51.100.7', port: 4444 }, { host: '192.0.2.53', port: 53 }, 'udp'),
    hex: '21 12 000c c6336407 c0000235 115c 0035',
  },
  {
    name: 'encodes TCP over IPv6',
    header: proxyHeader({ host: '2001:db8::7', port: 4444 }, { host: '2001:db8:0:1::53', port: 53 }, 'tcp'),
    hex: '21 21 0024 20010db8000000000000000000000007 20010db8000000010000000000000053 115c 0035',
  },
  {
    name: 'encodes IPv4-mapped IPv6 addresses as IPv4',
    header: proxyHeader(
      { host: '::ffff:198.51.100.7', port: 1 },
      { host: '::ffff:192.0.2.53', port: 53 },
      'tcp',
    ),
    hex: '21 11 000c c6336407 c0000235 0001 0035',
  },
  {
    name: 'encodes IPv4 with an IPv6 peer as IPv4-mapped IPv6, without the zone index',
    header: proxyHeader({ host: '198.51.100.7', port: 1 }, { host: 'fe80::53%eth0', port: 53 }, 'udp'),
    hex: '21 22 0024 00000000000000000000ffffc6336407 fe800000000000000000000000000053 0001 0035',
  },
])('the PROXY header $name', ({ header, hex }) => {
  expect(header.toString('hex')).toBe(SIGNATURE + hex.replaceAll(' ', ''));
});
