import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type ClientHttp2Session, connect } from 'node:http2';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../support/freePort.ts';
import { type GuardedChild, spawnGuarded } from '../support/spawn.ts';
import { type Floodgate, startFloodgate } from '../support/startFloodgate.ts';
import { until } from '../support/until.ts';

const hasNginx = spawnSync('nginx', ['-v']).status === 0;

const EXAMPLE = readFileSync(new URL('../../deploy/nginx.conf', import.meta.url), 'utf8');
const MEGABYTE = 1024 * 1024;

describe.skipIf(!hasNginx)(`deploy/nginx.conf${hasNginx ? '' : ' (nginx is not installed)'}`, () => {
  const folder = mkdtempSync(join(tmpdir(), 'floodgate-nginx-'));
  let floodgate: Floodgate;
  let nginx: GuardedChild;
  let client: ClientHttp2Session;

  beforeAll(async () => {
    const config = {
      upstream: ['http://127.0.0.1:9'],
      ops: { port: 0 },
      http: { trustedProxies: ['127.0.0.1'] },
    };
    floodgate = await startFloodgate({ config, whenListening: true });
    const port = await freePort();
    const names = ['-subj', '/CN=gateway.example.com', '-addext', 'subjectAltName=DNS:gateway.example.com'];
    const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
    execFileSync(
      'openssl',
      ['req', '-x509', ...curve, ...names, '-out', 'gateway.pem', '-keyout', 'gateway.key'],
      {
        cwd: folder,
        stdio: 'pipe',
      },
    );
    const replaced = EXAMPLE.replace('listen 443 ssl http2', `listen 127.0.0.1:${port} ssl http2`)
      .replace('127.0.0.1:8420', new URL(floodgate.url).host)
      .replaceAll('/etc/nginx/tls', folder);
    writeFileSync(join(folder, 'nginx.conf'), replaced);
    const globals = `daemon off; master_process off; pid ${folder}/pid; error_log stderr warn;`;
    const args = ['-p', folder, '-e', 'stderr', '-c', join(folder, 'nginx.conf'), '-g', globals];
    nginx = spawnGuarded('nginx', args);
    let written = '';
    nginx.stderr.on('data', (chunk) => {
      written += chunk;
    });
    const ca = readFileSync(join(folder, 'gateway.pem'));
    await until('a connection to nginx', async () => {
      if (nginx.exitCode !== null) throw new Error(`nginx ended: ${written}`);
      const session = connect(`https://127.0.0.1:${port}`, { ca, servername: 'gateway.example.com' });
      session.on('error', () => undefined);
      const isOpen = await Promise.race([
        once(session, 'connect').then(() => true),
        once(session, 'close').then(() => false),
      ]).catch(() => false);
      if (isOpen) client = session;
      return isOpen;
    });
  });
  afterAll(async () => {
    client?.destroy();
    nginx?.kill('SIGQUIT');
    if (nginx && nginx.exitCode === null && nginx.signalCode === null) await once(nginx, 'exit');
    await floodgate?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  async function ask(path: string, body?: string): Promise<{ status: number; body: string }> {
    const stream = client.request({
      ':path': path,
      ':authority': 'gateway.example.com',
      ':method': body === undefined ? 'GET' : 'POST',
      'content-type': 'application/json',
      'x-forwarded-for': '198.51.100.1',
    });
    stream.end(body);
    const [headers] = await once(stream, 'response');
    return { status: Number(headers[':status']), body: await text(stream) };
  }
  const call = (method: string, params: readonly unknown[] = []): string =>
    JSON.stringify({ jsonrpc: '2.0', id: 7, method, params });

  it('serves the gateway over HTTP/2', async () => {
    expect(client.alpnProtocol).toBe('h2');
    const { status, body } = await ask('/v1/mainnet', call('no_such'));
    expect(status).toBe(403);
    expect(JSON.parse(body)).toMatchObject({ id: 7, error: { code: -32601 } });
  });

  it('forwards large bodies, so that Floodgate rejects them with its JSON-RPC error', async () => {
    const { status, body } = await ask('/v1/mainnet', call('web3_sha3', ['0'.repeat(2.5 * MEGABYTE)]));
    expect(status).toBe(413);
    expect(JSON.parse(body)).toMatchObject({ id: null, error: { code: -32005 } });
  });

  it.each(['/', '/metrics', '/readyz', '/client/v4/openapi.json', '/operations/nodes', '/v1/../metrics'])(
    'returns 404 for %s',
    async (path) => expect((await ask(path)).status).toBe(404),
  );
});
