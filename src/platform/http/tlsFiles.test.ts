import { once } from 'node:events';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type SecureVersion, type TLSSocket } from 'node:tls';
import { pino } from 'pino';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { anyLimits } from '../../../test/support/anyLimits.ts';
import { hasOpenssl, makeCertificate, withOpenssl } from '../../../test/support/certificate.ts';
import { until } from '../../../test/support/until.ts';
import { openListener } from './openListener.ts';
import { readTlsFiles } from './tlsFiles.ts';

const folder = mkdtempSync(join(tmpdir(), 'floodgate-tls-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Creates a certificate for a name, and its key. */
function made(name: string): { readonly cert: string; readonly key: string } {
  const [cert, key] = [join(folder, `${name}.pem`), join(folder, `${name}.key`)];
  if (hasOpenssl) makeCertificate({ cert, key, commonName: name });
  return { cert, key };
}

const [first, second] = [made('first'), made('second')];

describe.skipIf(!hasOpenssl)(`a listener with TLS${withOpenssl}`, () => {
  const closing: Array<() => unknown> = [];
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });

  async function serve(files: { cert: string; key: string }) {
    const lines: string[] = [];
    const logger = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) });
    const listener = await openListener(
      { at: { host: '127.0.0.1', port: 0 }, tls: files },
      {
        routes: async (server) => {
          server.get('/:n', async (request) => request.params);
        },
        paths: [],
        errorBody: () => '',
      },
      { logger, ...anyLimits() },
    );
    closing.push(() => listener.stop(performance.now()));
    const port = Number(new URL(listener.url).port);
    const open = async (maxVersion?: SecureVersion): Promise<TLSSocket> => {
      const old = maxVersion && { maxVersion, minVersion: 'TLSv1' as const, ciphers: 'DEFAULT@SECLEVEL=0' };
      const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false, ...old });
      closing.push(() => socket.destroy());
      await once(socket, 'secureConnect');
      return socket;
    };
    const served = async (): Promise<string | undefined> => {
      const socket = await open();
      const { subject } = socket.getPeerCertificate();
      socket.destroy();
      return String(subject.CN);
    };
    return { open, served, lines };
  }

  const get = (path: string): string => `GET ${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`;

  it('answers requests in order, including rejected and pipelined ones', async () => {
    const { open } = await serve(first);
    const socket = await open();
    let text = '';
    socket.setEncoding('latin1').on('data', (more) => {
      text += more;
    });
    socket.write(
      get('/0') + get('/no/such') + Array.from({ length: 50 }, (_, i) => get(`/${i + 1}`)).join(''),
    );
    await until('all are answered', () => text.split('HTTP/1.1 ').length === 1 + 52);
    expect([...text.matchAll(/"n":"(\d+)"/g)].map(([, n]) => Number(n))).toEqual(
      Array.from({ length: 51 }, (_, i) => i),
    );
  });

  it('accepts TLS 1.2 and no earlier version', async () => {
    const { open } = await serve(first);
    expect((await open('TLSv1.2')).getProtocol()).toBe('TLSv1.2');
    await expect(open('TLSv1.1')).rejects.toThrow();
  });

  it('reloads changed files without closing connections, and keeps the old ones while the new ones do not match', async () => {
    const files = { cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') };
    const put = (part: 'cert' | 'key', from: string): void => copyFileSync(from, files[part]);
    put('cert', first.cert);
    put('key', first.key);
    const { open, served, lines } = await serve(files);
    const before = await open();
    put('cert', second.cert);
    await until('the error is logged', () => lines.some((line) => line.includes('reload failed')));
    expect(await served()).toBe('first');
    put('key', second.key);
    await until('the new one is in use', async () => (await served()) === 'second');
    before.write(get('/7'));
    expect(String((await once(before, 'data'))[0])).toContain('200 OK');
    expect(lines.filter((line) => line.includes('reload failed'))).toHaveLength(1);
  });

  it.each([
    [
      'does not exist',
      { cert: join(folder, 'none'), key: first.key },
      /^tls\.cert .*none cannot be read: ENOENT/,
    ],
    ['is not a certificate', { cert: first.key, key: first.key }, /^tls\.cert .* has no certificate in PEM/],
    ['is not a key', { cert: first.cert, key: first.cert }, /^tls\.key .* has no private key in PEM/],
    [
      'belongs to another certificate',
      { cert: first.cert, key: second.key },
      /^tls\.key .* is not the key of the first certificate/,
    ],
  ])('is not created if a file %s', (_what, files, message) => {
    expect(() => readTlsFiles(files)).toThrow(message);
  });
});
