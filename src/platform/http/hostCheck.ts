import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { plainAddress } from '../addresses/index.ts';
import type { Refusal } from './serveInOrder.ts';

export interface HostCheckOptions {
  /** Names that may stand in Host; `*` for any. Undefined: none on loopback, any elsewhere. */
  readonly allowedHosts: readonly string[] | undefined;
  /** The address that is listened on. */
  readonly address: string;
}

/** A longer one is cut in what is answered. */
const MAX_SHOWN_LENGTH = 100;
const NAME_AND_PORT = /^(\[[^\]]*\]|[^:]*)(?::\d*)?$/;

/**
 * Refuses requests whose Host is a name that is not served here: by a name of its own that it has resolve to this machine
 * (DNS rebinding) a web page could read what only this machine reaches. Addresses cannot be made to resolve to others, and
 * `localhost` is nobody's. Undefined where every Host is served.
 */
export function hostCheck({
  allowedHosts,
  address,
}: HostCheckOptions): ((request: IncomingMessage) => Refusal | undefined) | undefined {
  if (allowedHosts === undefined && !isLoopback(address)) return undefined;
  if (allowedHosts?.includes('*') === true) return undefined;
  const names = new Set(allowedHosts?.map((name) => name.toLowerCase().replace(/\.$/, '')));
  /** Nearly all requests have the Host of the one before. */
  let lastAllowed: string | undefined;
  return ({ headers: { host } }) => {
    // Every browser sends one; HTTP/1.0 need not.
    if (host === undefined || host === '' || host === lastAllowed) return undefined;
    if (isAllowed(host, names)) {
      lastAllowed = host;
      return undefined;
    }
    return {
      status: 421,
      message: `the Host header is ${JSON.stringify(host.slice(0, MAX_SHOWN_LENGTH))}; allowed are ${['localhost', 'IP addresses', ...names].join(', ')}. A proxy sends "Host: localhost", or its name is put into http.allowedHosts (FLOODGATE_HTTP_ALLOWED_HOSTS, --http-allowed-hosts)`,
    };
  };
}

function isAllowed(host: string, names: ReadonlySet<string>): boolean {
  const written = NAME_AND_PORT.exec(host)?.[1];
  if (written === undefined) return false;
  if (written.startsWith('[')) return isIP(written.slice(1, -1)) === 6;
  const name = written.toLowerCase().replace(/\.$/, '');
  return name === 'localhost' || name.endsWith('.localhost') || isIP(name) === 4 || names.has(name);
}

function isLoopback(address: string): boolean {
  const plain = plainAddress(address);
  return plain === '::1' || (isIP(plain) === 4 && plain.startsWith('127.'));
}
