import { describe, expect, it } from 'vitest';
import { Networks, pathOf } from './networks.ts';

it.each([
  ['/v1/mainnet', 'mainnet', 'methods'],
  ['/v1/mainnet/', 'mainnet', 'methods'],
  ['/v1/', '', 'methods'],
  ['/v1/mainnet/openrpc.json', 'mainnet', 'document'],
  ['/v1/mainnet/openrpc.json/', 'mainnet', 'document'],
  ['/v1/openrpc.json', 'openrpc.json', 'methods'],
  ['/v1/mainnet/page.js', 'mainnet', 'page.js'],
  ['/v1/mainnet/page.css', 'mainnet', 'page.css'],
  ['/v1/mainnet/__proto__', 'mainnet/__proto__', 'methods'],
  ['/v1//page.js', '', 'page.js'],
  ['/v1/mainnet/x/page.js', 'mainnet/x/page.js', 'methods'],
  ['/v1/mainnet//', 'mainnet/', 'methods'],
  ['/v1', '', 'methods'],
  ['/v1/mainnet/api', 'mainnet', 'explorer'],
  ['/v1/mainnet/api/', 'mainnet', 'explorer'],
  ['/v1/api', 'api', 'methods'],
  ['/v1/api/api', 'api', 'explorer'],
  ['/v1/mainnetapi', 'mainnetapi', 'methods'],
])('the path %s belongs to network %j (resource %s)', (path, network, resource) =>
  expect(pathOf(path)).toEqual({ network, resource, key: undefined }),
);

it.each([
  ['/v1/mainnet/fgk_a', 'methods'],
  ['/v1/mainnet/fgk_a/', 'methods'],
  ['/v1/mainnet/fgk_a/api', 'explorer'],
  ['/v1/mainnet/fgk_a/api/', 'explorer'],
  ['/v1/mainnet/fgk_a/openrpc.json', 'document'],
])('the path %s contains an API key (resource %s)', (path, resource) =>
  expect(pathOf(path)).toEqual({ network: 'mainnet', resource, key: 'fgk_a' }),
);

it.each([
  '/v1/fgk_a',
  '/v1/fgk_a/mainnet',
  '/v1/mainnet/fgk_a/page.js',
  '/v1/mainnet/fgk_a/fgk_a',
  '/v1/mainnet/fgk_a//',
  '/v1/mainnet/api/fgk_a',
  '/v1/mainnet/FGK_a',
  '/v1/mainnet/%66gk_a',
])('the path %s contains no API key and names no network', (path) => {
  const { network, key } = pathOf(path);
  expect(key).toBeUndefined();
  expect(network).not.toBe('mainnet');
});

describe('Networks', () => {
  const chainIds: Record<string, string> = { mainnet: '1', fork: '1', '10': '99' };
  const networks = new Networks(
    new Map(['mainnet', 'fork', '10', 'starting'].map((name) => [name, name])),
    (name) => chainIds[name],
  );

  it.each([
    ['mainnet', 'mainnet'],
    // Two networks have this chain id: the first configured one is used.
    ['1', 'mainnet'],
    // A network name has priority over a chain id.
    ['10', '10'],
    ['99', '10'],
    ['0x1', undefined],
    ['01', undefined],
    ['1.0', undefined],
    ['-1', undefined],
    ['', undefined],
    ['undefined', undefined],
    ['__proto__', undefined],
    ['9'.repeat(10_000), undefined],
  ])('returns for the name or chain id %s: %s', (network, found) =>
    expect(networks.get(network)).toBe(found),
  );
});
