import { execFileSync, spawnSync } from 'node:child_process';

/** Whether `openssl` is installed, so that tests can create certificates. */
export const hasOpenssl = spawnSync('openssl', ['version']).status === 0;
/** Suffix for names of tests that need openssl. */
export const withOpenssl = hasOpenssl ? '' : ' (openssl is not installed)';

export interface CertificateOptions {
  readonly cert: string;
  readonly key: string;
  readonly commonName?: string;
  readonly days?: number;
}

/** Creates a self-signed certificate for 127.0.0.1 and its key in these files. */
export function makeCertificate({ cert, key, ...options }: CertificateOptions): void {
  const { commonName = 'floodgate', days = 30 } = options;
  const names = ['-subj', `/CN=${commonName}`, '-addext', 'subjectAltName=IP:127.0.0.1'];
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const files = ['-days', String(days), '-out', cert, '-keyout', key];
  execFileSync('openssl', ['req', '-x509', ...curve, ...names, ...files], { stdio: 'pipe' });
}
