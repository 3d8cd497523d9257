import { BlockList, SocketAddress } from 'node:net';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { clientKey, widerNetworks } from './clientKey.ts';

describe('a client key', () => {
  it.each([
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::FFFF:192.0.2.1', '192.0.2.1'],
    ['', ''],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:0DB8:0001:0002::9', '2001:db8:1:2::/64'],
    ['2001:db8:0:7::1', '2001:db8:0:7::/64'],
    ['2001:db8:0:7:ffff:ffff:ffff:ffff', '2001:db8:0:7::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['2001:db8::3:4:5:6', '2001:db8:0:0::/64'],
    ['2001:db8:1:2:3::', '2001:db8:1:2::/64'],
    ['1::', '1:0:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['::', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['64:ff9b:1:2::192.0.2.7', '64:ff9b:1:2::/64'],
    ['1::2:3:4:5:192.0.2.7', '1:0:2:3::/64'],
  ])('of %j is %j', (address, key) => expect(clientKey(address)).toBe(key));

  it('is equal for all IPv6 addresses of a /64 and only for them', () => {
    fc.assert(
      fc.property(fc.ipV6(), fc.ipV6(), (one, other) => {
        const list = new BlockList();
        list.addSubnet(one, 64, 'ipv6');
        // IPv4-mapped addresses are separate clients.
        if ([one, other].some((address) => /^(::|0*:0*:).*ffff/i.test(address))) return;
        expect(clientKey(one) === clientKey(other)).toBe(list.check(other, 'ipv6'));
      }),
    );
  });

  it('does not depend on the spelling of an IPv6 address', () => {
    const octet = fc.nat(255);
    fc.assert(
      fc.property(
        fc.array(fc.oneof(fc.constant(0), fc.nat(0xffff)), { minLength: 6, maxLength: 6 }),
        fc.tuple(octet, octet, octet, octet),
        (groups, octets) => {
          const [a, b, c, d] = octets;
          const all = [...groups, a * 256 + b, c * 256 + d];
          const full = all.map((group) => group.toString(16).padStart(4, '0')).join(':');
          const short = new SocketAddress({ address: full, family: 'ipv6' }).address;
          const inDots = `${groups.map((group) => group.toString(16)).join(':')}:${octets.join('.')}`;
          // For an IPv4-mapped address sockets only use the dotted spelling.
          fc.pre(!/^(0+:){5}ffff:/.test(full));
          const keys = [full, full.toUpperCase(), short, inDots, `${short}%eth0`].map(clientKey);
          expect(new Set(keys)).toEqual(new Set([clientKey(full)]));
        },
      ),
    );
  });
});

describe('the networks of a client', () => {
  it.each([
    ['192.0.2.7', []],
    ['', []],
    ['2001:db8:1:2::/64', ['2001:db8:1:0::/56', '2001:db8:1::/48']],
    ['2001:db8:1:12ff::/64', ['2001:db8:1:1200::/56', '2001:db8:1::/48']],
    ['0:0:0:0::/64', ['0:0:0:0::/56', '0:0:0::/48']],
  ])('of %j are %j', (client, networks) => expect(widerNetworks(client)).toEqual(networks));
});
