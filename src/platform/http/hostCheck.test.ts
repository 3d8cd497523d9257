import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { hostCheck } from './hostCheck.ts';

const LOOPBACK = '127.0.0.1';
/** Returns the status for a Host header; undefined if the request is allowed. */
function answered(host: string | undefined, address: string, allowedHosts?: readonly string[]) {
  const request = { headers: { host } } as IncomingMessage; // the only member that is read
  return hostCheck({ address, allowedHosts })?.(request)?.status;
}

describe('the Host of a request on loopback', () => {
  it.each([
    'localhost',
    'localhost:8420',
    'LocalHost',
    'localhost.',
    'app.localhost:1',
    undefined,
    '',
    '127.0.0.1',
    '127.0.0.1:8420',
    '127.9.9.9',
    '[::1]',
    '[::1]:8420',
    '192.0.2.7:80',
    '[2001:db8::1]:1',
  ])('may be %j', (host) => expect(answered(host, LOOPBACK)).toBe(undefined));

  it.each([
    'rebound.example',
    'rebound.example:8420',
    'localhost.example',
    'notlocalhost',
    '127.0.0.1.example',
    'localhost:8420.example',
    'localhost@example',
    'x@localhost',
    '[::1].example',
    '[localhost]',
    '::1',
    '127.1',
    '0x7f.1',
    '2130706433',
    ' localhost',
    'localhost,rebound.example',
    '[',
    ':',
    '.',
  ])('may not be %j', (host) => expect(answered(host, LOOPBACK)).toBe(421));

  it.each(['127.0.0.1', '127.0.1.1', '::1', '::ffff:127.0.0.1'])(
    'is checked on the loopback address %s',
    (address) => expect(answered('rebound.example', address)).toBe(421),
  );
  it.each(['0.0.0.0', '::', '192.0.2.7'])('is not checked on %s unless names are configured', (address) => {
    expect(answered('any.example', address)).toBe(undefined);
    expect(answered('any.example', address, ['gateway.example'])).toBe(421);
    expect(answered('gateway.example:443', address, ['gateway.example'])).toBe(undefined);
  });
  it('may be a configured name in any case, with any port and a final dot', () => {
    for (const host of ['gateway.example', 'GATEWAY.example:1', 'gateway.example.'])
      expect(answered(host, LOOPBACK, ['Gateway.Example.'])).toBe(undefined);
    expect(answered('www.gateway.example', LOOPBACK, ['gateway.example'])).toBe(421);
    expect(answered('any.example', LOOPBACK, ['*'])).toBe(undefined);
  });
  it('is checked again after an allowed one', () => {
    const check = hostCheck({ address: LOOPBACK, allowedHosts: undefined });
    const status = (host: string) => check?.({ headers: { host } } as IncomingMessage)?.status; // as above
    expect(['localhost', 'rebound.example', 'localhost'].map(status)).toEqual([undefined, 421, undefined]);
  });
  it('is truncated in the error message, which names the option', () => {
    const check = hostCheck({ address: LOOPBACK, allowedHosts: ['a.example'] });
    const request = { headers: { host: 'x'.repeat(10_000) } } as IncomingMessage; // as above
    const { message = '' } = check?.(request) ?? {};
    expect(message.length).toBeLessThan(500);
    expect(message).toContain('a.example');
    expect(message).toContain('http.allowedHosts (FLOODGATE_HTTP_ALLOWED_HOSTS, --http-allowed-hosts)');
  });
});
