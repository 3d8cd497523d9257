import { MAX_PEM_BYTES, readNamed } from '../../../../platform/regularFile/index.ts';
import { BadTraceStore } from './failures.ts';

const PARAMETERS: readonly string[] = ['secure', 'cluster', 'ca'];
const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;
const HTTP_PORT = 8123;
const HTTPS_PORT = 8443;
const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/;

const MAX_HOSTS = 16;
const FORM = /^clickhouse:\/\/(?<user>[^/?]*@)?(?<hosts>[^/?@]+)(?<rest>[/?].*)?$/;

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
 * Parses a URL of the form clickhouse://USER:PASSWORD@HOST:8443,HOST:8443/DATABASE. Returns one address per host.
 * Throws BadTraceStore if the URL is invalid.
 */
export function parseAddresses(text: string): ClickHouseAddress[] {
  const { user = '', hosts = '', rest = '' } = FORM.exec(text)?.groups ?? {};
  const all = hosts.split(',');
  if (all.length > MAX_HOSTS)
    throw new BadTraceStore(`the URL has ${all.length} hosts; allowed: at most ${MAX_HOSTS}`);
  return all.map((host) => parseAddress(`clickhouse://${user}${host}${rest}`));
}

function parseAddress(text: string): ClickHouseAddress {
  const parsed = URL.canParse(text) ? new URL(text) : undefined;
  if (parsed === undefined || parsed.protocol !== 'clickhouse:' || parsed.hostname === '')
    throw new BadTraceStore('not a URL of the form clickhouse://USER:PASSWORD@HOST:8443/DATABASE');
  const unknown = [...parsed.searchParams.keys()].filter((name) => !PARAMETERS.includes(name));
  if (unknown.length > 0)
    throw new BadTraceStore(
      `unknown parameter ${unknown.map((name) => JSON.stringify(name.slice(0, 40))).join(', ')}; allowed: ${PARAMETERS.join(', ')}`,
    );
  const isSecure = secureOf(parsed);
  const port = parsed.port || String(isSecure ? HTTPS_PORT : HTTP_PORT);
  const [cluster, ca] = [parsed.searchParams.get('cluster'), parsed.searchParams.get('ca')];
  return {
    url: `${isSecure ? 'https' : 'http'}://${parsed.hostname}:${port}`,
    username: decoded(parsed.username) || 'default',
    password: decoded(parsed.password),
    database: nameOf('database', decoded(parsed.pathname.slice(1)) || 'default'),
    cluster: cluster === null ? undefined : nameOf('cluster', cluster),
    ca: ca === null ? undefined : fileOf(ca),
  };
}

/** Returns whether to use TLS. Default: true, except for loopback addresses. */
function secureOf({ hostname, searchParams }: URL): boolean {
  const secure = searchParams.get('secure');
  if (secure !== null && secure !== 'true' && secure !== 'false')
    throw new BadTraceStore(`secure is ${JSON.stringify(secure.slice(0, 40))}; allowed: true, false`);
  return secure === null ? !LOOPBACK.test(hostname) : secure === 'true';
}

/**
 * Returns `name` if it is simple, or throws BadTraceStore. Other names are rejected because statements contain
 * names without quotes.
 */
function nameOf(what: string, name: string): string {
  if (IDENTIFIER.test(name)) return name;
  throw new BadTraceStore(
    `${what} is ${JSON.stringify(name.slice(0, 70))}; allowed: 1 to 64 of A-Z, a-z, 0-9 and _, not starting with a digit`,
  );
}

function fileOf(file: string): Buffer {
  try {
    return readNamed(file, MAX_PEM_BYTES);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException; // readNamed throws only errors
    const reason = code ?? message;
    throw new BadTraceStore(`ca is ${JSON.stringify(file)}, a file that cannot be read (${reason})`);
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new BadTraceStore('a % must be followed by two hex digits; write a literal % as %25');
  }
}
