import { ConfigError } from '../config/index.ts';
import type { ServerAddress } from '../platform/addresses/index.ts';

/** The schema has seen to the form; the port may still be too large. */
export function addressOf(text: string, option: string): ServerAddress {
  const colon = text.lastIndexOf(':');
  const port = Number(text.slice(colon + 1));
  if (!(port <= 0xffff))
    throw new ConfigError(`${option} is ${JSON.stringify(text)}; a port is at most 65535`);
  if (port === 0 && option !== 'dns.listen')
    throw new ConfigError(`${option} is ${JSON.stringify(text)}; nobody can be reached at port 0`);
  return { host: text.slice(0, colon).replace(/^\[|\]$/g, ''), port };
}
