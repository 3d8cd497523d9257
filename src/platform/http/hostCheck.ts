import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { plainAddress } from '../addresses/index.ts';
import type { RequestRejection } from './serveInOrder.ts';

export interface HostCheckOptions {
  /** Names allowed in the Host header; `*` allows any. Default: none if `address` is a loopback address, else any. */
  readonly allowedHosts: readonly string[] | undefined;
  readonly address: string;
}

const MAX_SHOWN_LENGTH = 100;
const NAME_AND_PORT = /^(\[[^\]]*\]|[^:]*)(?::\d*)?$/;

/**
 * Returns a check that rejects requests with an unknown name in Host, or undefined if any Host is allowed. Without this
 * check, a web page whose name resolves to this machine (DNS rebinding) could read data that is visible only locally.
 * IP addresses and `localhost` cannot be rebound and are always allowed.
 */
export function hostCheck({
  allowedHosts,
  address,
}: HostCheckOptions): ((request: IncomingMessage) => RequestRejection | undefined) | undefined {
  if (allowedHosts === undefined && !isLoopback(address)) return undefined;
  if (allowedHosts?.includes('*') === true) return undefined;
  const names = new Set(allowedHosts?.map((name) => name.toLowerCase().replace(/\.$/, '')));
  let lastAllowed: string | undefined;
  return ({ headers: { host } }) => {
    // All browsers send Host; HTTP/1.0 clients may omit it.
    if (host === undefined || host === '' || host === lastAllowed) return undefined;
    if (isAllowed(host, names)) {
      lastAllowed = host;
      return undefined;
    }
    return {
      status: 421,
      message: `the Host header is ${JSON.stringify(host.slice(0, MAX_SHOWN_LENGTH))}; allowed: ${['localhost', 'IP addresses', ...names].join(', ')}. For a proxy, send "Host: localhost" or add its name to http.allowedHosts (FLOODGATE_HTTP_ALLOWED_HOSTS, --http-allowed-hosts)`,
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
