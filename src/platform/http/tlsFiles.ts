import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Server } from 'node:http';
import { Server as SecureServer } from 'node:tls';

/** Where the certificate chain and the private key are, as PEM. */
export interface TlsFiles {
  readonly cert: string;
  readonly key: string;
  /** The authorities whose certificates clients must have; left out: clients need none. */
  readonly clientCa?: string | undefined;
  /** The options that name them; left out: `tls`. */
  readonly options?: 'tls' | 'ops.tls';
}

/** What a server is made with, and made with again. */
export interface TlsContext {
  readonly cert: Buffer;
  readonly key: Buffer;
  readonly minVersion: 'TLSv1.2';
  readonly ca?: Buffer;
}

export interface TlsFollower {
  readonly log: {
    info(fields: object, message: string): void;
    error(fields: object, message: string): void;
  };
  /** Other authorities are in use for connections from now on. */
  readonly clientCaChanged?: () => void;
}

/** A certificate and its key cannot be used; the message says which file, and why. */
class TlsFilesError extends Error {
  override readonly name = 'TlsFilesError';
}

/** The files are looked at this often: whatever renews them may write, rename or link. */
const LOOK_EVERY_MS = 1_000;

/** Reads the files. Throws TlsFilesError where one cannot be read, or they do not belong together. */
export function readTlsFiles({ cert, key, clientCa, options = 'tls' }: TlsFiles): TlsContext {
  const certPem = readNamed(`${options}.cert`, cert);
  const keyPem = readNamed(`${options}.key`, key);
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

/** Every certificate is read: OpenSSL leaves out in silence what it cannot read. */
function readAuthorities(option: string, path: string): Buffer {
  const pem = readNamed(option, path);
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
 * Uses the files again whenever they have changed; connections that are open go on as they are. Files that cannot be used are
 * told once, and the ones before stay in use. Writers replace two files one after the other: until they fit nothing changes.
 */
export function followTlsFiles(server: Server, files: TlsFiles, { log, clientCaChanged }: TlsFollower): void {
  let inUse = readTlsFiles(files);
  let told: string | undefined;
  const look = (): void => {
    try {
      const now = readTlsFiles(files);
      told = undefined;
      const isSameCa = now.ca === undefined || inUse.ca === undefined || now.ca.equals(inUse.ca);
      if (now.cert.equals(inUse.cert) && now.key.equals(inUse.key) && isSameCa) return;
      if (server instanceof SecureServer) server.setSecureContext(now);
      inUse = now;
      const { validTo } = new X509Certificate(now.cert);
      log.info({ validTo }, 'the TLS certificate has changed and is in use');
      if (!isSameCa) clientCaChanged?.();
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      if (reason === told) return;
      told = reason;
      log.error(
        { reason },
        'the TLS certificate has changed and cannot be used; the one before stays in use',
      );
    }
  };
  const timer = setInterval(look, LOOK_EVERY_MS);
  timer.unref();
  server.on('close', () => clearInterval(timer));
}

function readNamed(option: string, path: string): Buffer {
  return attempt(`${option} ${path} cannot be read`, () => readFileSync(path));
}

function attempt<T>(what: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    throw new TlsFilesError(`${what}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
