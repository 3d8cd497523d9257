import { describe, expect, it } from 'vitest';
import { ConfigError, loadConfig } from '../../config/index.ts';
import { opsListenAddress } from './listenAddresses.ts';

const placeOf = (flags: Readonly<Record<string, string>>) =>
  opsListenAddress(loadConfig({ environment: {}, flags }));

describe('the listener for operators', () => {
  it.each([
    ['absent by default', {}, undefined],
    ['on loopback if only a port is set', { 'ops.port': '1' }, { at: { host: '127.0.0.1', port: 1 } }],
    ['on the configured address', { 'ops.port': '1', 'ops.host': '::' }, { at: { host: '::', port: 1 } }],
    ['on a separate free port', { port: '0', 'ops.port': '0' }, { at: { host: '127.0.0.1', port: 0 } }],
    [
      'on the same port of another address',
      { host: '192.0.2.1', port: '7', 'ops.port': '7' },
      { at: { port: 7 } },
    ],
    [
      'on a Unix socket with access for the group',
      { 'ops.socket': '/s' },
      { at: { path: '/s', mode: 0o660 } },
    ],
  ])('is %s', (_what, flags, place) => {
    if (place === undefined) expect(placeOf(flags)).toBe(undefined);
    else expect(placeOf(flags)).toMatchObject(place);
  });

  it.each([
    ['its port equals that of the gateway', { port: '7', 'ops.port': '7' }, 'ops.port is 7'],
    [
      'the gateway listens on its port on every address',
      { host: '0.0.0.0', port: '7', 'ops.port': '7' },
      'ops.port is 7',
    ],
    [
      'it listens on the port of the gateway on every IPv6 address',
      { port: '7', 'ops.port': '7', 'ops.host': '::' },
      'ops.port is 7',
    ],
    ['an address is set without a port', { 'ops.host': '127.0.0.1' }, 'require ops.port'],
    ['a port is set in addition to a socket', { 'ops.socket': '/s', 'ops.port': '1' }, 'ops.socket replaces'],
    [
      'a client CA is set without a certificate',
      { 'ops.port': '1', 'ops.tls.clientCa': '/ca' },
      'ops.tls.clientCa requires',
    ],
    [
      'a certificate is set without a key',
      { 'ops.port': '1', 'ops.tls.cert': '/c' },
      'ops.tls.cert and ops.tls.key',
    ],
    [
      'a file does not exist',
      { 'ops.port': '1', 'ops.tls.cert': '/no/c', 'ops.tls.key': '/no/k' },
      'ops.tls.cert /no/c cannot be read',
    ],
  ])('is rejected if %s', (_what, flags, message) => {
    expect(() => placeOf(flags)).toThrow(ConfigError);
    expect(() => placeOf(flags)).toThrow(message);
  });
});
