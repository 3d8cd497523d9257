import { expect, it } from 'vitest';
import { isPublicAddress } from './publicAddress.ts';

it.each([
  '127.0.0.1',
  '127.255.255.254',
  '10.1.2.3',
  '172.31.255.255',
  '192.168.1.1',
  '169.254.169.254',
  '0.0.0.0',
  '100.64.0.1',
  '192.0.0.8',
  '198.19.255.255',
  '224.0.0.1',
  '255.255.255.255',
  '168.63.129.16',
  '::1',
  '::',
  'fe80::1',
  'fe80::1%eth0',
  'fd00:ec2::254',
  'fc00::1',
  'ff02::1',
  '::ffff:127.0.0.1',
  '::ffff:7f00:1',
  '::127.0.0.1',
  '64:ff9b::7f00:1',
  '2002:7f00:1::',
  '2001:0:1::1',
  '2001:db8::1',
  '',
  'localhost',
  '127.1',
  '0x7f000001',
  '2130706433',
])('%s is not a public address', (address) => {
  expect(isPublicAddress(address)).toBe(false);
});

it.each(['8.8.8.8', '172.32.0.1', '100.128.0.1', '::ffff:8.8.8.8', '2606:4700::1111', '2a00:1450::1'])(
  '%s is a public address',
  (address) => {
    expect(isPublicAddress(address)).toBe(true);
  },
);
