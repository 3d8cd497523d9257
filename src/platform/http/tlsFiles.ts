import { createPrivateKey, X509Certificate } from 'node:crypto';
import type { Server } from 'node:http';
import { Server as SecureServer } from 'node:tls';
import { MAX_PEM_BYTES, readNamed } from '../regularFile/index.ts';

/** Paths of the PEM files for TLS. */
export interface TlsFiles {
  readonly cert: string;
  readonly key: string;
  /** File with the CA certificates for client certificates. Default: clients need no certificate. */
  readonly clientCa?: string | undefined;
  /** Prefix of the option names in messages. Default: `tls`. */
  readonly options?: 'tls' | 'ops.tls';
}

export interface TlsContext {
  readonly cert: Buffer;
  readonly key: Buffer;
  readonly minVersion: 'TLSv1.2';
  readonly ca?: Buffer;
}

export interface TlsWatcherOptions {
  readonly log: {
    info(fields: object, message: string): void;
    error(fields: object, message: string): void;
  };
  readonly clientCaChanged?: () => void;
}

/** Thrown if TLS files cannot be used. The message names the file and the reason. */
class TlsFilesError extends Error {
  override readonly name = 'TlsFilesError';
}

/** Interval of checks for changed files. Polling covers all ways to replace a file: write, rename or link. */
const LOOK_EVERY_MS = 1_000;

/** Reads the TLS files. Throws TlsFilesError if a file cannot be read or if certificate and key do not match. */
export function readTlsFiles({ cert, key, clientCa, options = 'tls' }: TlsFiles): TlsContext {
  const certPem = pemOf(`${options}.cert`, cert);
  const keyPem = pemOf(`${options}.key`, key);
  const certificate = attempt(
    `${options}.cert ${cert} has no certificate in PEM`,
    () => new X509Certificate(certPem),
  );
  const privateKey = attempt(`${options}.key ${key} has no private key in PEM without a passphrase`, () =>
    createPrivateKey(keyPem),
  );
  if (!certificate.checkPrivateKey(privateKey))
    throw new TlsFilesError(
      `${options}.key ${key} is not the key of the first certificate in ${options}.cert ${cert}`,
    );
  const context = { cert: certPem, key: keyPem, minVersion: 'TLSv1.2' } as const;
  return clientCa === undefined
    ? context
    : { ...context, ca: readAuthorities(`${options}.clientCa`, clientCa) };
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** Reads a file of CA certificates. Parses each one, because OpenSSL silently skips invalid certificates. */
function readAuthorities(option: string, path: string): Buffer {
  const pem = pemOf(option, path);
  const certificates = pem.toString('latin1').match(CERTIFICATE) ?? [];
  if (certificates.length === 0) throw new TlsFilesError(`${option} ${path} has no certificate in PEM`);
  for (const [index, certificate] of certificates.entries())
    attempt(
      `${option} ${path}: certificate ${index + 1} cannot be read`,
      () => new X509Certificate(certificate),
    );
  return pem;
}

/**
 * Reloads the TLS files of a server whenever they change; open connections are not affected. If the new files are
 * unusable, for example while only one of two is replaced, logs this once and keeps using the previous ones.
 */
export function watchTlsFiles(
  server: Server,
  files: TlsFiles,
  { log, clientCaChanged }: TlsWatcherOptions,
): void {
  let inUse = readTlsFiles(files);
  let reported: string | undefined;
  const look = (): void => {
    try {
      const now = readTlsFiles(files);
      reported = undefined;
      const isSameCa = now.ca === undefined || inUse.ca === undefined || now.ca.equals(inUse.ca);
      if (now.cert.equals(inUse.cert) && now.key.equals(inUse.key) && isSameCa) return;
      if (server instanceof SecureServer) server.setSecureContext(now);
      inUse = now;
      const { validTo } = new X509Certificate(now.cert);
      log.info({ validTo }, 'TLS certificate reloaded');
      if (!isSameCa) clientCaChanged?.();
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      if (reason === reported) return;
      reported = reason;
      log.error({ reason }, 'TLS certificate reload failed: the previous one stays in use');
    }
  };
  const timer = setInterval(look, LOOK_EVERY_MS);
  timer.unref();
  server.on('close', () => clearInterval(timer));
}

function pemOf(option: string, path: string): Buffer {
  return attempt(`${option} ${path} cannot be read`, () => readNamed(path, MAX_PEM_BYTES));
}

function attempt<T>(what: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    throw new TlsFilesError(`${what}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
