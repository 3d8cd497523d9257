import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BadNetworkError, networkMatcher, networkText, parseNetwork } from './ipNetworks.ts';

const isWithin = (address: string, ...networks: string[]): boolean =>
  networkMatcher(networks.map(parseNetwork))(address);

describe('a network', () => {
  it.each([
    ['192.0.2.0/24', '192.0.2.0/24'],
    ['192.0.2.7', '192.0.2.7/32'],
    ['0.0.0.0/0', '0.0.0.0/0'],
    ['2001:DB8::/32', '2001:db8:0:0:0:0:0:0/32'],
    ['::1', '0:0:0:0:0:0:0:1/128'],
    ['::/0', '0:0:0:0:0:0:0:0/0'],
    ['::ffff:192.0.2.0/120', '192.0.2.0/24'],
    ['::ffff:192.0.2.7', '192.0.2.7/32'],
    ['::FFFF:c000:207', '192.0.2.7/32'],
    ['0:0:0:0:0:ffff:c000:200/120', '192.0.2.0/24'],
    ['::ffff:0:0/96', '0.0.0.0/0'],
    ['64:ff9b::192.0.2.7', '64:ff9b:0:0:0:0:c000:207/128'],
  ])('%s is parsed as %s', (text, read) => expect(networkText(parseNetwork(text))).toBe(read));

  it.each([
    '',
    'ns1.example.test',
    '192.0.2.0/33',
    '192.0.2.0/-1',
    '192.0.2.0/',
    '192.0.2.0/24/24',
    '192.0.2',
    '192.0.2.7/24',
    '2001:db8::1/32',
    '2001:db8::/129',
    'fe80::1%eth0',
    '::ffff:192.0.2.0/24',
    '::ffff:192.0.2.7/120',
    '192.0.2.0/24 ',
    '192.0.2.0/2 4',
  ])('%j is rejected and named in the error', (text) => {
    expect(() => parseNetwork(text)).toThrow(BadNetworkError);
    expect(() => parseNetwork(text)).toThrow(`"${text}" `);
  });

  it('matches addresses of its family and IPv4-mapped addresses', () => {
    expect(isWithin('192.0.2.255', '192.0.2.0/24')).toBe(true);
    expect(isWithin('::ffff:192.0.2.255', '192.0.2.0/24')).toBe(true);
    expect(isWithin('::FFFF:192.0.2.9', '::ffff:192.0.2.0/120')).toBe(true);
    expect(isWithin('192.0.3.0', '192.0.2.0/24')).toBe(false);
    expect(isWithin('2001:db8:ffff::1', '192.0.2.0/24', '2001:db8::/32')).toBe(true);
    expect(isWithin('2001:db9::1', '2001:db8::/32')).toBe(false);
    expect(isWithin('fe80::1%eth0', 'fe80::/10')).toBe(true);
    expect(isWithin('192.0.2.1', '::/0')).toBe(false);
    expect(isWithin('::ffff:192.0.2.1', '::/0')).toBe(false);
    expect(isWithin('2001:db8::1', '0.0.0.0/0')).toBe(false);
    expect(isWithin('', '0.0.0.0/0', '::/0')).toBe(false);
    expect(isWithin('192.0.2.1')).toBe(false);
  });

  it('matches the addresses with its prefix, as computed by arithmetic', () => {
    const number = fc.integer({ min: 0, max: 2 ** 32 - 1 });
    const text = (value: number): string =>
      [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join('.');
    fc.assert(
      fc.property(number, number, fc.nat(32), (base, other, bits) => {
        const size = 2 ** (32 - bits);
        const start = Math.floor(base / size) * size;
        const near = start + (other % size);
        expect(isWithin(text(near), `${text(start)}/${bits}`)).toBe(true);
        expect(isWithin(text(other), `${text(start)}/${bits}`)).toBe(other >= start && other < start + size);
      }),
    );
  });
});
