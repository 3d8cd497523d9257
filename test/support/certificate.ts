import { execFileSync } from 'node:child_process';

/** Makes a certificate of its own for 127.0.0.1, and its key, in these files. */
export function makeCertificate({ cert, key }: { readonly cert: string; readonly key: string }): void {
  const names = ['-subj', '/CN=floodgate', '-addext', 'subjectAltName=IP:127.0.0.1'];
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const files = ['-out', cert, '-keyout', key];
  execFileSync('openssl', ['req', '-x509', ...curve, ...names, ...files], { stdio: 'pipe' });
}
