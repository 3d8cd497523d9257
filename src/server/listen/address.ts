import { ConfigError } from '../../config/index.ts';
import type { ServerAddress } from '../../platform/addresses/index.ts';

/** Parses HOST:PORT, checked by the schema. Throws ConfigError for a port above 65535, or 0 except in dns.listen. */
export function addressOf(text: string, option: string): ServerAddress {
  const colon = text.lastIndexOf(':');
  const port = Number(text.slice(colon + 1));
  if (!(port <= 0xffff))
    throw new ConfigError(`${option} is ${JSON.stringify(text)}; a port is at most 65535`);
  if (port === 0 && option !== 'dns.listen')
    throw new ConfigError(`${option} is ${JSON.stringify(text)}; port 0 is not a valid destination`);
  return { host: text.slice(0, colon).replace(/^\[|\]$/g, ''), port };
}
