/** What the options of `ops` and `tls` mean for the listeners. Throws `ConfigError` where they do not fit together. */
import { isIP } from 'node:net';
import { type Config, ConfigError } from '../config/index.ts';
import { type OpenListenerOptions, readTlsFiles, type TlsFiles } from '../platform/http/index.ts';

/** Where a listener is, and with which certificate. */
export type Place = Pick<OpenListenerOptions, 'at' | 'tls'>;

export function publicPlaceOf({ host, port, tls }: Config): Place {
  return { at: { host, port }, tls: tlsFilesOf('tls', tls) };
}

/** Where operators are served; undefined where that is the public place. */
export function opsPlaceOf(config: Config): Place | undefined {
  const { ops } = config;
  const tls = tlsFilesOf('ops.tls', ops.tls);
  if (ops.socket !== undefined) {
    if (ops.host !== undefined || ops.port !== undefined || tls !== undefined)
      throw new ConfigError(
        'ops.socket stands in place of ops.host, ops.port and ops.tls: leave it out, or them. Who may connect to it, ops.socketMode says',
      );
    return { at: { path: ops.socket, mode: Number.parseInt(ops.socketMode, 8) } };
  }
  if (ops.port === undefined) {
    if (ops.host === undefined && tls === undefined) return undefined;
    throw new ConfigError('ops.host and ops.tls are of ops.port: set that too (0 for any free port)');
  }
  const at = { host: ops.host ?? '127.0.0.1', port: ops.port };
  if (at.port !== 0 && at.port === config.port && overlap(at.host, config.host))
    throw new ConfigError(
      `ops.port is ${at.port} (--ops-port), and so is port, on the same address: they are two listeners, so one of them needs another`,
    );
  return { at, tls };
}

/** Whether one address takes the other's connections. */
const overlap = (one: string, other: string): boolean =>
  one === other ||
  [one, other].some((host) => host === '0.0.0.0' || (isIP(host) === 6 && /^[0:]+$/.test(host)));

function tlsFilesOf(options: 'tls' | 'ops.tls', files: Config['ops']['tls']): TlsFiles | undefined {
  const { cert, key, clientCa } = files;
  if (cert === undefined && key === undefined && clientCa === undefined) return undefined;
  if (cert === undefined || key === undefined)
    throw new ConfigError(
      clientCa === undefined
        ? `${options}.cert and ${options}.key are set together, or neither is`
        : `${options}.clientCa is set: ${options}.cert and ${options}.key are needed too`,
    );
  const read = { cert, key, clientCa, options };
  try {
    readTlsFiles(read);
  } catch (error) {
    throw new ConfigError(error instanceof Error ? error.message : String(error));
  }
  return read;
}
