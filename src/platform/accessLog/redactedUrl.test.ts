import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { redactedReferer, redactedUrl } from './redactedUrl.ts';

const KEY = 'fg_Zq3r5t7w9y1u3i5o7p9a1s3d5f7g9h1j3k5l7z9';
const ADDRESS = '0xa0ee7a142d267c1f36714e4a8f75612f20a79720';
const HASH = `0x${'ab'.repeat(32)}`;
const UUID = '8b1a9953-c461-4129-97ab-0f0a3c7d5e21';
const known = new Set(['mainnet', 'a-network-with-a-long-name']);
const shown = (url: string): string => redactedUrl(url, known);

describe('the URL of a request', () => {
  it.each([
    '/',
    '/v1/mainnet',
    '/v1/a-network-with-a-long-name/openrpc.json',
    `/v1/mainnet/api?module=account&action=txlistinternal&address=${ADDRESS}&page=2`,
    `/v1/mainnet/api?txhash=${HASH}`,
    `/client/v4/accounts/${'a'.repeat(32)}/network/advanced_dns_protection/configs/dns_protection/rules/${UUID}`,
    '/metrics',
    '*',
  ])('is logged unchanged: %s', (url) => {
    expect(shown(url)).toBe(url);
  });

  it.each([
    [`/v1/mainnet?key=${KEY}`, '/v1/mainnet?key=***'],
    ['/v1/mainnet?key=short', '/v1/mainnet?key=***'],
    ['/v1/mainnet?k%65y=short', '/v1/mainnet?k%65y=***'],
    ['/v1/mainnet?ApiKey=short&a=b', '/v1/mainnet?ApiKey=***&a=b'],
    ['/v1/mainnet?%61pi%4bey=short', '/v1/mainnet?%61pi%4bey=***'],
    ['/?access_token=1&password=2&sig=3', '/?access_token=***&password=***&sig=***'],
    [`/v1/${'0123456789abcdef'.repeat(2)}`, '/v1/***'],
    [`/v1/mainnet/${KEY}`, '/v1/mainnet/***'],
    [`/v1/mainnet/${KEY}/`, '/v1/mainnet/***/'],
    [`/${KEY}/v1/mainnet`, '/***/v1/mainnet'],
    [`/client/v4/accounts/${KEY}`, '/client/v4/accounts/***'],
    [`/v1/mainnet?${KEY}`, '/v1/mainnet?***'],
    [`/v1/mainnet?${KEY}=`, '/v1/mainnet?***'],
    [`/v1/mainnet?x=1;key=${KEY}`, '/v1/mainnet?x=***'],
    [`/v1/mainnet?a=${KEY}#b`, '/v1/mainnet?a=***'],
    ['http://user:pw@a/', '***'],
    ['user:pw@a:443', '***'],
  ])('is logged without possible secrets: %s', (url, expected) => {
    expect(shown(url)).toBe(expected);
  });

  it('never contains a key at any position', () => {
    const part = fc.constantFrom(
      '/',
      '?',
      '&',
      '=',
      ';',
      'key',
      'a',
      'v1',
      'client/v4/',
      '%',
      '#',
      '+',
      '..',
    );
    const around = fc.array(part, { maxLength: 12 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(around, around, (before, behind) => {
        expect(shown(`/${before}${KEY}${behind}`)).not.toContain(KEY);
      }),
    );
  });

  it('has a bounded length', () => {
    expect(shown(`/?${'a=1&'.repeat(100_000)}`).length).toBeLessThan(200);
  });
});

describe('the referring page', () => {
  it.each([
    ['https://example.com/a?token=secret#c', 'https://example.com'],
    ['https://example.com', 'https://example.com'],
    ['http://[::1]:3000/', 'http://[::1]:3000'],
    ['https://user:password@example.com/', undefined],
    ['javascript:alert(1)', undefined],
    [`https://${'a'.repeat(1_000)}/`, undefined],
    ['', undefined],
    [undefined, undefined],
  ])('is logged as its origin: %s', (referer, expected) => {
    expect(redactedReferer(referer)).toBe(expected);
  });
});
