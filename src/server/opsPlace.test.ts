import { describe, expect, it } from 'vitest';
import { ConfigError, loadConfig } from '../config/index.ts';
import { opsPlaceOf } from './opsPlace.ts';

const placeOf = (flags: Readonly<Record<string, string>>) =>
  opsPlaceOf(loadConfig({ environment: {}, flags }));

describe('where operators are served', () => {
  it.each([
    ['nowhere else by default', {}, undefined],
    ['loopback where only a port is named', { 'ops.port': '1' }, { at: { host: '127.0.0.1', port: 1 } }],
    ['an address', { 'ops.port': '1', 'ops.host': '::' }, { at: { host: '::', port: 1 } }],
    ['a port beside the other', { port: '0', 'ops.port': '0' }, { at: { host: '127.0.0.1', port: 0 } }],
    [
      'the same port of another address',
      { host: '192.0.2.1', port: '7', 'ops.port': '7' },
      { at: { port: 7 } },
    ],
    ['a Unix socket', { 'ops.socket': '/s' }, { at: { path: '/s', mode: 0o600 } }],
    ['one of a group', { 'ops.socket': 's', 'ops.socketMode': '660' }, { at: { path: 's', mode: 0o660 } }],
  ])('is %s', (_what, flags, place) => {
    if (place === undefined) expect(placeOf(flags)).toBe(undefined);
    else expect(placeOf(flags)).toMatchObject(place);
  });

  it.each([
    ['the port is that of the gateway', { port: '7', 'ops.port': '7' }, 'ops.port is 7'],
    ['on every address', { host: '0.0.0.0', port: '7', 'ops.port': '7' }, 'ops.port is 7'],
    ['on every address of IPv6', { port: '7', 'ops.port': '7', 'ops.host': '::' }, 'ops.port is 7'],
    ['there is an address without a port', { 'ops.host': '127.0.0.1' }, 'of ops.port'],
    [
      'there is a port beside a socket',
      { 'ops.socket': '/s', 'ops.port': '1' },
      'ops.socket stands in place',
    ],
    [
      'authorities have no certificate',
      { 'ops.port': '1', 'ops.tls.clientCa': '/ca' },
      'ops.tls.clientCa is set',
    ],
    ['a certificate has no key', { 'ops.port': '1', 'ops.tls.cert': '/c' }, 'ops.tls.cert and ops.tls.key'],
    [
      'a file is not there',
      { 'ops.port': '1', 'ops.tls.cert': '/no/c', 'ops.tls.key': '/no/k' },
      'ops.tls.cert /no/c cannot be read',
    ],
  ])('is refused where %s', (_what, flags, message) => {
    expect(() => placeOf(flags)).toThrow(ConfigError);
    expect(() => placeOf(flags)).toThrow(message);
  });
});
