import { readFileSync } from 'node:fs';
import { BadTraceStoreUrl } from './failures.ts';

const PARAMETERS = ['secure', 'cluster', 'ca'] as const;
const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;
const HTTP_PORT = 8123;
const HTTPS_PORT = 8443;
const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/;

/** Address, credentials and database of a ClickHouse server. */
export interface ClickHouseAddress {
  readonly url: string;
  readonly username: string;
  readonly password: string;
  readonly database: string;
  /** Name of the ClickHouse cluster in which tables are replicated. Undefined if tables are not replicated. */
  readonly cluster: string | undefined;
  readonly ca: Buffer | undefined;
}

/**
 * Parses a URL of the form clickhouse://USER:PASSWORD@HOST:8443/DATABASE?cluster=NAME. Throws BadTraceStoreUrl if it
 * is invalid.
 */
export function parseAddress(text: string): ClickHouseAddress {
  const parsed = URL.canParse(text) ? new URL(text) : undefined;
  if (parsed === undefined || parsed.protocol !== 'clickhouse:' || parsed.hostname === '')
    throw new BadTraceStoreUrl('not a URL of the form clickhouse://USER:PASSWORD@HOST:8443/DATABASE');
  const unknown = [...parsed.searchParams.keys()].filter(
    (name) => !PARAMETERS.some((known) => known === name),
  );
  if (unknown.length > 0)
    throw new BadTraceStoreUrl(
      `unknown parameter ${unknown.map((name) => JSON.stringify(name.slice(0, 40))).join(', ')}; allowed: ${PARAMETERS.join(', ')}`,
    );
  const isSecure = secureOf(parsed);
  const port = parsed.port || String(isSecure ? HTTPS_PORT : HTTP_PORT);
  const ca = parsed.searchParams.get('ca');
  return {
    url: `${isSecure ? 'https' : 'http'}://${parsed.hostname}:${port}`,
    username: decoded(parsed.username) || 'default',
    password: decoded(parsed.password),
    database: nameOf('database', decoded(parsed.pathname.slice(1)) || 'default'),
    cluster: optionalName('cluster', parsed.searchParams.get('cluster')),
    ca: ca === null ? undefined : fileOf(ca),
  };
}

/** Returns whether to use TLS. Default: true, except for loopback addresses. */
function secureOf({ hostname, searchParams }: URL): boolean {
  const secure = searchParams.get('secure');
  if (secure !== null && secure !== 'true' && secure !== 'false')
    throw new BadTraceStoreUrl(`secure is ${JSON.stringify(secure.slice(0, 40))}; allowed: true, false`);
  return secure === null ? !LOOPBACK.test(hostname) : secure === 'true';
}

/**
 * Returns `name` if it is simple, or throws BadTraceStoreUrl. Other names are rejected because statements contain
 * names without quotes.
 */
function nameOf(what: string, name: string): string {
  if (IDENTIFIER.test(name)) return name;
  throw new BadTraceStoreUrl(
    `${what} is ${JSON.stringify(name.slice(0, 70))}; allowed: 1 to 64 of A-Z, a-z, 0-9 and _, not starting with a digit`,
  );
}

const optionalName = (what: string, name: string | null): string | undefined =>
  name === null ? undefined : nameOf(what, name);

function fileOf(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    throw new BadTraceStoreUrl(`ca is ${JSON.stringify(file)}, a file that cannot be read (${reason})`);
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new BadTraceStoreUrl('a % must be followed by two hex digits; write a literal % as %25');
  }
}
