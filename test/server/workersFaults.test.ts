import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type SameChain, startSameChain } from '../gateway/support/sameChain.ts';
import { hasOpenssl, makeCertificate, withOpenssl } from '../support/certificate.ts';
import { until } from '../support/until.ts';
import { canListProcesses } from './support/processes.ts';
import { KeptConnection, startWorkersServer, type WorkersServer } from './support/workersServer.ts';

const WORKERS = 2;
const CONNECTIONS = 4 * WORKERS;
const RATE = 10;
const BLOCK_NUMBER = { jsonrpc: '2.0', id: 1, method: 'eth_blockNumber', params: [] };
const HANG_AT_SIGNAL = fileURLToPath(new URL('../support/hangAtSignal.cjs', import.meta.url));

const NAME = `workers with TLS and a rate for each address${withOpenssl}`;

describe.skipIf(!canListProcesses || !hasOpenssl)(NAME, () => {
  const folder = mkdtempSync(join(tmpdir(), 'floodgate-workers-tls-'));
  const tls = { cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') };
  let chain: SameChain;
  let server: WorkersServer;
  const connections: KeptConnection[] = [];

  const connect = (): KeptConnection[] => {
    const ca = readFileSync(tls.cert);
    const made = Array.from({ length: CONNECTIONS }, () => new KeptConnection(server.gatewayUrl, { ca }));
    connections.push(...made);
    return made;
  };
  /** The certificate that a new connection is shown. */
  const shown = async (): Promise<string> => {
    const { port } = new URL(server.gatewayUrl);
    const socket = connectTls({ port: Number(port), host: '127.0.0.1', rejectUnauthorized: false });
    await once(socket, 'secureConnect');
    const { fingerprint256 } = socket.getPeerCertificate();
    socket.destroy();
    return fingerprint256;
  };

  beforeAll(async () => {
    makeCertificate(tls);
    chain = await startSameChain(1);
    await chain.grow(3);
    server = await startWorkersServer(
      {
        config: { tls, upstream: chain.nodes.map(({ url }) => url), gateway: { ratePerAddress: RATE } },
        args: ['--index-poll-interval-ms', '100'],
        env: { NODE_OPTIONS: `--require ${HANG_AT_SIGNAL}` },
      },
      WORKERS,
    );
  });
  afterAll(async () => {
    await server?.stop();
    await chain?.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  afterEach(() => {
    for (const connection of connections.splice(0)) connection.close();
  });

  it('a rate is that of an address, whichever workers it asks', async () => {
    const askedAtMs = performance.now();
    let [admitted, refused] = [0, 0];
    while (refused < 20 * CONNECTIONS) {
      // Anew each time: those that are made at once may all be one worker's.
      const asked = connect();
      for (const { status } of await Promise.all(asked.map((one) => one.post(BLOCK_NUMBER)))) {
        expect([200, 429]).toContain(status);
        if (status === 200) admitted++;
        else refused++;
      }
      for (const one of asked) one.close();
    }
    const seconds = (performance.now() - askedAtMs) / 1_000;
    expect(admitted).toBeGreaterThanOrEqual(RATE / 2);
    // A full bucket, what came in since, and what was leased and not used: a tenth a worker.
    expect(admitted).toBeLessThanOrEqual(RATE + RATE * seconds + (WORKERS * RATE) / 10);
  });

  it('each shows a certificate that was changed', async () => {
    const before = new X509Certificate(readFileSync(tls.cert)).fingerprint256;
    expect(await shown()).toBe(before);
    const changed = { cert: join(folder, 'new.pem'), key: join(folder, 'new.key') };
    makeCertificate(changed);
    renameSync(changed.key, tls.key);
    renameSync(changed.cert, tls.cert);
    const after = new X509Certificate(readFileSync(tls.cert)).fingerprint256;
    await until('all connections are shown the new one', async () => {
      const all = await Promise.all(Array.from({ length: CONNECTIONS }, shown));
      return all.every((fingerprint) => fingerprint === after);
    });
  });

  it('one that hangs is ended when the head changes, and another answers in its place', async () => {
    const [hung = 0, other] = server.workers();
    process.kill(hung, 'SIGUSR2');
    await until('it hangs', () => server.output().includes(`${hung} hangs`));
    await chain.grow(1);
    await until('that is noticed', () => server.output().includes('a worker hangs: it is ended'));
    await until('another is there', () => {
      const workers = server.workers();
      return workers.length === WORKERS && !workers.includes(hung);
    });
    await until('all are ready', async () => (await fetch(`${server.opsUrl}/readyz`)).status === 200);
    expect(server.workers()).toContain(other);
    for (const connection of connect())
      await until('the head is answered', async () => {
        const { status, text } = await connection.post(BLOCK_NUMBER);
        return status === 200 && Number(JSON.parse(text).result) === chain.head();
      });
  });
});
