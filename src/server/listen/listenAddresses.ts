/** Listener addresses and TLS files of the configuration. Throws `ConfigError` if options contradict each other. */
import { isIP } from 'node:net';
import { type Config, ConfigError } from '../../config/index.ts';
import { type OpenListenerOptions, readTlsFiles, type TlsFiles } from '../../platform/http/index.ts';

/** Permissions of the operators' socket: owner and group. A proxy can join the group, so no option is needed. */
const SOCKET_MODE = 0o660;

export type ListenAddress = Pick<OpenListenerOptions, 'at' | 'tls'>;

export function publicListenAddress({ host, port, tls }: Config): ListenAddress {
  return { at: { host, port }, tls: tlsFilesOf('tls', tls) };
}

/** Returns the address of the listener for operators; undefined if the public listener serves operators. */
export function opsListenAddress(config: Config): ListenAddress | undefined {
  const { ops } = config;
  const tls = tlsFilesOf('ops.tls', ops.tls);
  if (ops.socket !== undefined) {
    if (ops.host !== undefined || ops.port !== undefined || tls !== undefined)
      throw new ConfigError(
        'ops.socket replaces ops.host, ops.port and ops.tls: set either ops.socket or the others',
      );
    return { at: { path: ops.socket, mode: SOCKET_MODE } };
  }
  if (ops.port === undefined) {
    if (ops.host === undefined && tls === undefined) return undefined;
    throw new ConfigError('ops.host and ops.tls require ops.port (0 picks a free port)');
  }
  const at = { host: ops.host ?? '127.0.0.1', port: ops.port };
  if (at.port !== 0 && at.port === config.port && overlap(at.host, config.host))
    throw new ConfigError(
      `ops.port is ${at.port} (--ops-port), equal to port on the same address: the two listeners need different ports`,
    );
  return { at, tls };
}

/** Returns whether two host addresses overlap, so that two listeners cannot use the same port on them. */
const overlap = (one: string, other: string): boolean =>
  one === other ||
  [one, other].some((host) => host === '0.0.0.0' || (isIP(host) === 6 && /^[0:]+$/.test(host)));

function tlsFilesOf(options: 'tls' | 'ops.tls', files: Config['ops']['tls']): TlsFiles | undefined {
  const { cert, key, clientCa } = files;
  if (cert === undefined && key === undefined && clientCa === undefined) return undefined;
  if (cert === undefined || key === undefined)
    throw new ConfigError(
      clientCa === undefined
        ? `${options}.cert and ${options}.key must be set together`
        : `${options}.clientCa requires ${options}.cert and ${options}.key`,
    );
  const read = { cert, key, clientCa, options };
  try {
    readTlsFiles(read);
  } catch (error) {
    throw new ConfigError(error instanceof Error ? error.message : String(error));
  }
  return read;
}
