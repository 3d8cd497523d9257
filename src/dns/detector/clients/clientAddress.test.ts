import { SocketAddress } from 'node:net';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ClientAddress } from './clientAddress.ts';

const address = new ClientAddress();
function read(text: string): string {
  address.read(text);
  if (!address.isKnown) return 'none';
  const words = [...address.words].map((word) => (word >>> 0).toString(16).padStart(8, '0'));
  return address.isIpv6 ? words.join(' ') : (words[0] ?? '');
}

it.each([
  ['192.0.2.7', 'c0000207'],
  ['255.255.255.255', 'ffffffff'],
  ['::ffff:192.0.2.7', 'c0000207'],
  ['::FFFF:192.0.2.7', 'c0000207'],
  ['2001:db8::1', '20010db8 00000000 00000000 00000001'],
  ['2001:db8:0:7:ffff::', '20010db8 00000007 ffff0000 00000000'],
  ['::', '00000000 00000000 00000000 00000000'],
  ['::1', '00000000 00000000 00000000 00000001'],
  ['1::2:3:4:5:6', '00010000 00000002 00030004 00050006'],
  ['fe80::1%eth0', 'fe800000 00000000 00000000 00000001'],
  ['64:ff9b::192.0.2.7', '0064ff9b 00000000 00000000 c0000207'],
  ['', 'none'],
  ['nonsense', 'none'],
  ['192.0.2', 'none'],
  ['1:2:3:4:5:6:7:8:9', 'none'],
])('address %j is parsed as %s', (text, words) => expect(read(text)).toBe(words));

it('all text forms of an IPv6 address are parsed to the same words', () => {
  const group = fc.oneof(fc.constant(0), fc.nat(0xffff));
  fc.assert(
    fc.property(fc.array(group, { minLength: 8, maxLength: 8 }), (groups) => {
      const full = groups.map((one) => one.toString(16).padStart(4, '0')).join(':');
      fc.pre(!/^(0000:){5}(ffff|0000):/.test(full));
      const expected = full.replaceAll(/([0-9a-f]{4}):([0-9a-f]{4})/g, '$1$2').replaceAll(':', ' ');
      const { address: short } = new SocketAddress({ address: full, family: 'ipv6' });
      expect([full, full.toUpperCase(), short, `${short}%eth0`].map(read)).toEqual(Array(4).fill(expected));
    }),
  );
});

it('parsing an arbitrary text never throws', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[0-9a-f:.%]{0,45}$/)), (text) => {
      read(text);
    }),
  );
});
