import { isIP } from 'node:net';
import { ConfigError } from '../../config/index.ts';
import type { ServerAddress } from '../../platform/addresses/index.ts';

/**
 * Parses ADDRESS:PORT, whose form the schema has checked. Throws ConfigError for an invalid address, a port above
 * 65535, and port 0 in any option but dns.listen.
 */
export function addressOf(text: string, option: string): ServerAddress {
  const colon = text.lastIndexOf(':');
  const port = Number(text.slice(colon + 1));
  if (!(port <= 0xffff))
    throw new ConfigError(`${option} is ${JSON.stringify(text)}; a port is at most 65535`);
  if (port === 0 && option !== 'dns.listen')
    throw new ConfigError(`${option} is ${JSON.stringify(text)}; port 0 is not a valid destination`);
  const host = text.slice(0, colon).replace(/^\[|\]$/g, '');
  if (isIP(host) === 0)
    throw new ConfigError(`${option} is ${JSON.stringify(text)}; ${host} is not an IP address`);
  return { host, port };
}
