import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Server } from 'node:http';
import { Server as SecureServer } from 'node:tls';

/** Where the certificate chain and the private key are, as PEM. */
export interface TlsFiles {
  readonly cert: string;
  readonly key: string;
}

/** What a server is made with, and made with again. */
export interface TlsContext {
  readonly cert: Buffer;
  readonly key: Buffer;
  readonly minVersion: 'TLSv1.2';
}

interface Log {
  info(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** A certificate and its key cannot be used; the message says which file, and why. */
class TlsFilesError extends Error {
  override readonly name = 'TlsFilesError';
}

/** The files are looked at this often: whatever renews them may write, rename or link. */
const LOOK_EVERY_MS = 1_000;

/** Reads both files. Throws TlsFilesError where one cannot be read, or they do not belong together. */
export function readTlsFiles({ cert, key }: TlsFiles): TlsContext {
  const certPem = readNamed('tls.cert', cert);
  const keyPem = readNamed('tls.key', key);
  const certificate = attempt(
    `tls.cert ${cert} has no certificate in PEM`,
    () => new X509Certificate(certPem),
  );
  const privateKey = attempt(`tls.key ${key} has no private key in PEM without a passphrase`, () =>
    createPrivateKey(keyPem),
  );
  if (!certificate.checkPrivateKey(privateKey))
    throw new TlsFilesError(`tls.key ${key} is not the key of the first certificate in tls.cert ${cert}`);
  return { cert: certPem, key: keyPem, minVersion: 'TLSv1.2' };
}

/**
 * Uses the files again whenever they have changed; connections that are open go on as they are. Files that cannot be used are
 * told once, and the ones before stay in use. Writers replace two files one after the other: until they fit nothing changes.
 */
export function followTlsFiles(server: Server, files: TlsFiles, log: Log): void {
  let inUse = readTlsFiles(files);
  let told: string | undefined;
  const look = (): void => {
    try {
      const now = readTlsFiles(files);
      told = undefined;
      if (now.cert.equals(inUse.cert) && now.key.equals(inUse.key)) return;
      if (server instanceof SecureServer) server.setSecureContext(now);
      inUse = now;
      const { validTo } = new X509Certificate(now.cert);
      log.info({ validTo }, 'the TLS certificate has changed and is in use');
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
