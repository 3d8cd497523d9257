import { userInfo } from 'node:os';
import type { ClientConfig } from 'pg';
import { MAX_PEM_BYTES, readNamed } from '../regularFile/index.ts';

export class BadPostgresUrl extends Error {
  override readonly name = 'BadPostgresUrl';
}

/** Modes of certificate verification, with libpq's names. */
const SSL_MODES = ['disable', 'require', 'verify-ca', 'verify-full'] as const;
type SslMode = (typeof SSL_MODES)[number];

const PARAMETERS = [
  ...(['sslmode', 'sslrootcert', 'sslcert', 'sslkey', 'host'] as const),
  ...(['application_name', 'target_session_attrs'] as const),
] as const;
const SESSION_ATTRIBUTES = ['any', 'read-write'] as const;
const DEFAULT_PORT = 5432;
const MAX_HOSTS = 8;
/** Scheme and user, hosts, and the rest of a URL. */
const PARTS = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^/?#@]*)(.*)$/s;
const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|::1)?$/;

/** Value of `sslrootcert` that, in libpq, selects the system's CA certificates; here, those of Node.js. */
const SYSTEM_AUTHORITIES = 'system';

export interface DatabaseHosts {
  /** Connection options of each host, in the order of the URL. */
  readonly hosts: readonly ClientConfig[];
  /** Whether only a host that accepts writes may be used. */
  readonly isReadWrite: boolean;
}

/** Returns the hosts of a PostgreSQL URL of libpq's format, at most 8, separated by commas. Throws `BadPostgresUrl`. */
export function databaseHosts(url: string): DatabaseHosts {
  const [, start = '', hosts = '', rest = ''] = PARTS.exec(url) ?? [];
  const names = start === '' ? [] : hosts.split(',');
  if (names.length > MAX_HOSTS)
    throw new BadPostgresUrl(`the URL contains ${names.length} hosts; allowed: at most ${MAX_HOSTS}`);
  if (names.length > 1 && names.some((name) => name.replace(/:.*/, '') === ''))
    throw new BadPostgresUrl('one of several hosts is empty');
  const urls = names.length > 1 ? names.map((name) => start + name + rest) : [url];
  const options = urls.map(connectionOptions);
  const parameters = new URL(urls[0] ?? url).searchParams;
  if (urls.length > 1 && parameters.has('host'))
    throw new BadPostgresUrl('host must not be set if the URL contains several hosts');
  return { hosts: options, isReadWrite: parameters.get('target_session_attrs') === 'read-write' };
}

/**
 * Returns the connection options in a PostgreSQL URL of libpq's format with one host. Throws `BadPostgresUrl` with a
 * message that contains only parameter and file names, because the URL may contain a password.
 */
export function connectionOptions(url: string): ClientConfig {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || !/^postgres(ql)?:$/.test(parsed.protocol))
    throw new BadPostgresUrl('expected a URL like postgres://USER:PASSWORD@HOST:5432/DATABASE');
  const parameters = parametersOf(parsed);
  const attributes = parameters.get('target_session_attrs') ?? 'any';
  if (!SESSION_ATTRIBUTES.some((known) => known === attributes))
    throw new BadPostgresUrl(
      `target_session_attrs is ${JSON.stringify(attributes.slice(0, 40))}; allowed: ${SESSION_ATTRIBUTES.join(', ')}`,
    );
  const host = parameters.get('host') ?? decoded(parsed.hostname.replace(/^\[(.*)\]$/, '$1'));
  const isLocal = host.startsWith('/') || LOOPBACK.test(host);
  return {
    host: host || 'localhost',
    port: Number(parsed.port) || DEFAULT_PORT,
    user: decoded(parsed.username) || userName(),
    ...(parsed.password !== '' && { password: decoded(parsed.password) }),
    database: decoded(parsed.pathname.slice(1)) || decoded(parsed.username) || userName(),
    application_name: parameters.get('application_name') ?? 'floodgate',
    ssl: host.startsWith('/') ? false : tlsOf(parameters, isLocal),
  };
}

function parametersOf({ searchParams }: URL): Map<string, string> {
  const unknown = [...searchParams.keys()].filter((name) => !PARAMETERS.some((known) => known === name));
  if (unknown.length > 0)
    throw new BadPostgresUrl(
      `unknown parameter ${unknown.map((name) => JSON.stringify(name.slice(0, 40))).join(', ')}; allowed: ${PARAMETERS.join(', ')}`,
    );
  return new Map(searchParams);
}

/**
 * Returns the TLS options. `sslmode` defaults to `verify-full`, or to `disable` if the server is on this machine.
 * `allow` and `prefer` are not supported, because with them an attacker in the middle could turn TLS off.
 */
function tlsOf(parameters: ReadonlyMap<string, string>, isLocal: boolean): ClientConfig['ssl'] {
  const wanted = parameters.get('sslmode') ?? (isLocal ? 'disable' : 'verify-full');
  const mode = SSL_MODES.find((known) => known === wanted);
  if (mode === undefined)
    throw new BadPostgresUrl(
      `sslmode is ${JSON.stringify(wanted.slice(0, 40))}; allowed: ${SSL_MODES.join(', ')}`,
    );
  if (mode === 'disable') return false;
  const authorities = parameters.get('sslrootcert');
  const isSystem = authorities === undefined || authorities === SYSTEM_AUTHORITIES;
  return {
    ...(!isSystem && { ca: fileOf('sslrootcert', authorities) }),
    ...certificateOf(parameters),
    ...checksOf(mode, authorities !== undefined),
  };
}

/** Returns the checks of the server's certificate. As in libpq, `require` with a CA certificate means `verify-ca`. */
function checksOf(
  mode: Exclude<SslMode, 'disable'>,
  hasAuthorities: boolean,
): { readonly rejectUnauthorized: boolean; readonly checkServerIdentity?: () => undefined } {
  if (mode === 'verify-full') return { rejectUnauthorized: true };
  const rejectUnauthorized = mode === 'verify-ca' || hasAuthorities;
  return { rejectUnauthorized, checkServerIdentity: () => undefined };
}

function certificateOf(parameters: ReadonlyMap<string, string>): { cert?: string; key?: string } {
  const cert = parameters.get('sslcert');
  const key = parameters.get('sslkey');
  if ((cert === undefined) !== (key === undefined))
    throw new BadPostgresUrl('sslcert and sslkey must be set together');
  if (cert === undefined || key === undefined) return {};
  return { cert: fileOf('sslcert', cert), key: fileOf('sslkey', key) };
}

function fileOf(parameter: string, file: string): string {
  try {
    return readNamed(file, MAX_PEM_BYTES).toString();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException; // readNamed throws only errors
    const reason = code ?? message;
    throw new BadPostgresUrl(`${parameter}: the file ${JSON.stringify(file)} cannot be read (${reason})`);
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new BadPostgresUrl('a % is not followed by two hex digits; write % itself as %25');
  }
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    throw new BadPostgresUrl('the user is missing');
  }
}
