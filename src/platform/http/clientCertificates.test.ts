import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { anyLimits } from '../../../test/support/anyLimits.ts';
import { hasOpenssl, withOpenssl } from '../../../test/support/certificate.ts';
import { until } from '../../../test/support/until.ts';
import { type OpenListener, openListener } from './openListener.ts';
import { readTlsFiles } from './tlsFiles.ts';

const folder = mkdtempSync(join(tmpdir(), 'floodgate-client-ca-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const at = (name: string): string => join(folder, name);
const openssl = (...args: string[]): void =>
  void execFileSync('openssl', args, { stdio: 'pipe', cwd: folder });
const KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];

interface Pair {
  readonly cert: Buffer;
  readonly key: Buffer;
}
const pair = (name: string): Pair => ({
  cert: readFileSync(at(`${name}.pem`)),
  key: readFileSync(at(`${name}.key`)),
});

/** Creates a self-signed certificate, for a CA or a server. */
function selfSigned(name: string): Pair {
  openssl('req', '-x509', ...KEY, '-subj', `/CN=${name}`, '-out', `${name}.pem`, '-keyout', `${name}.key`);
  return pair(name);
}

/** Creates a client certificate issued by a CA, with an expiry time in seconds. */
function issued(name: string, authority: string, endSeconds: number): Pair {
  openssl('req', ...KEY, '-subj', `/CN=${name}`, '-out', `${name}.csr`, '-keyout', `${name}.key`);
  const time = (seconds: number): string =>
    new Date(seconds * 1000)
      .toISOString()
      .replace(/[-:T]|\.\d+/g, '')
      .slice(2);
  writeFileSync(at(`${name}.txt`), '');
  const config = `[ca]\ndefault_ca=d\n[d]\ndatabase=${name}.txt\nnew_certs_dir=.\nrand_serial=yes\npolicy=p\ndefault_md=sha256\n[p]\ncommonName=supplied\n`;
  writeFileSync(at(`${name}.cnf`), config);
  openssl(
    'ca',
    '-batch',
    '-config',
    `${name}.cnf`,
    '-cert',
    `${authority}.pem`,
    '-keyfile',
    `${authority}.key`,
    '-startdate',
    time(endSeconds - 86_400),
    '-enddate',
    time(endSeconds),
    '-in',
    `${name}.csr`,
    '-out',
    `${name}.pem`,
    '-notext',
  );
  return pair(name);
}

describe.skipIf(!hasOpenssl)(`a listener that requires client certificates${withOpenssl}`, () => {
  const now = Math.floor(Date.now() / 1000);
  let operator: Pair;
  let expired: Pair;
  let foreign: Pair;
  let listener: OpenListener;
  let port: number;
  const sockets: TLSSocket[] = [];
  const lines: string[] = [];

  beforeAll(async () => {
    for (const name of ['server', 'authority', 'other']) selfSigned(name);
    operator = issued('operator', 'authority', now + 86_400);
    expired = issued('expired', 'authority', now - 60);
    foreign = issued('foreign', 'other', now + 86_400);
    copyFileSync(at('authority.pem'), at('ca.pem'));
    const logger = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) });
    const routes = ['/healthz', '/readyz', '/metrics', '/client/v4'];
    listener = await openListener(
      {
        at: { host: '127.0.0.1', port: 0 },
        tls: { cert: at('server.pem'), key: at('server.key'), clientCa: at('ca.pem'), options: 'ops.tls' },
      },
      {
        routes: async (server) => {
          for (const route of routes) server.get(route, async () => 'reported');
        },
        paths: routes,
        errorBody: (status, _url, message) => `${status} ${message}`,
      },
      { logger, ...anyLimits() },
    );
    port = Number(new URL(listener.url).port);
  });
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy();
  });
  afterAll(() => listener?.stop(performance.now()));

  async function open(options: ConnectionOptions = {}): Promise<TLSSocket> {
    const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false, ...options });
    sockets.push(socket);
    socket.on('error', () => undefined); // the server may close it
    await once(socket, 'secureConnect');
    return socket;
  }
  /** Returns head and body of a response, or the part received before the connection closed. */
  async function get(socket: TLSSocket, path: string): Promise<string> {
    let text = '';
    socket.setEncoding('latin1').on('data', (more) => {
      text += more;
    });
    socket.write(`GET ${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`);
    await until('it is answered', () => /\r\n\r\n.+/s.test(text) || socket.destroyed);
    socket.removeAllListeners('data');
    return text;
  }

  it('answers all requests of clients with a certificate of its CA', async () => {
    const socket = await open(operator);
    for (const path of ['/metrics', '/client/v4'])
      expect(await get(socket, path)).toMatch(/ 200 OK.*reported$/s);
  });

  it.each([
    ['none', () => ({}), 'a client certificate is required'],
    ['one of another CA', () => foreign, 'is not accepted'],
    ['an expired one', () => expired, 'is not accepted (CERT_HAS_EXPIRED)'],
    ['the server’s own', () => pair('server'), 'is not accepted'],
  ])('rejects a client with this certificate: %s, except for health checks', async (_what, options, why) => {
    for (const path of [
      '/metrics',
      '/client/v4',
      '/no/such',
      '/healthz/../metrics',
      '/healthz?',
      '//healthz',
    ]) {
      const answer = await get(await open(options()), path);
      expect(answer).toMatch(/^HTTP\/1\.1 403 /);
      expect(answer).toContain(why);
    }
    for (const path of ['/healthz', '/readyz'])
      expect(await get(await open(options()), path)).toMatch(/ 200 OK.*reported$/s);
  });

  it.each(['TLSv1.2', 'TLSv1.3'] as const)(
    'rejects a resumed %s session that never had a certificate',
    async (version) => {
      const first = await open({ minVersion: version, maxVersion: version });
      const session = new Promise<Buffer>((resolve) => first.once('session', resolve));
      await get(first, '/healthz');
      const resumed = await open({
        session: version === 'TLSv1.2' ? first.getSession() : await session,
        maxVersion: version,
      });
      expect(resumed.isSessionReused()).toBe(true);
      expect(await get(resumed, '/metrics')).toContain('a client certificate is required');
    },
  );

  it('rejects requests after the certificate of a connection has expired', async () => {
    const brief = issued('brief', 'authority', Math.floor(Date.now() / 1000) + 3);
    const socket = await open(brief);
    await until('it has expired', async () => {
      const answer = await get(socket, '/metrics');
      if (answer.includes(' 200 OK')) return false;
      expect(answer).toContain('the client certificate has expired');
      return true;
    });
  });

  it('closes all connections, including unfinished handshakes, when the CA changes', async () => {
    const before = await open(operator);
    expect(await get(before, '/metrics')).toContain('200 OK');
    writeFileSync(at('ca.pem'), 'no certificate');
    await until('the error is logged', () => lines.some((line) => line.includes('ops.tls.clientCa')));
    expect(await get(before, '/metrics')).toContain('200 OK');
    const cut = once(before, 'close');
    copyFileSync(at('other.pem'), at('ca.pem'));
    await cut;
    expect(await get(await open(operator), '/metrics')).toContain('is not accepted');
    expect(await get(await open(foreign), '/metrics')).toContain('200 OK');
  });

  it.each([
    ['does not exist', 'none', 'cannot be read: ENOENT'],
    ['contains no certificate', 'server.key', 'has no certificate in PEM'],
    ['contains a corrupt certificate', 'broken', 'certificate 2 cannot be read'],
  ])('is not created if the CA file %s', (_what, file, message) => {
    const broken = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';
    writeFileSync(at('broken'), readFileSync(at('authority.pem'), 'utf8') + broken);
    const files = { cert: at('server.pem'), key: at('server.key'), clientCa: at(file) };
    expect(() => readTlsFiles({ ...files, options: 'ops.tls' })).toThrow(`ops.tls.clientCa ${at(file)}`);
    expect(() => readTlsFiles({ ...files, options: 'ops.tls' })).toThrow(message);
  });
});
