import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type ReplicatedChain, startReplicatedChain } from '../gateway/support/replicatedChain.ts';
import { hasOpenssl, makeCertificate, withOpenssl } from '../support/certificate.ts';
import { until } from '../support/until.ts';
import { canListProcesses, remotePortsOf } from './support/processes.ts';
import { KeepAliveConnection, startWorkersServer, type WorkersServer } from './support/workersServer.ts';

const WORKERS = 2;
const CONNECTIONS = 4 * WORKERS;
const RATE = 10;
const BLOCK_NUMBER = { jsonrpc: '2.0', id: 1, method: 'eth_blockNumber', params: [] };
/** A call that is answered without a node. */
const CHAIN_ID = { jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] };
const HANG_AT_SIGNAL = fileURLToPath(new URL('../support/hangAtSignal.cjs', import.meta.url));

const NAME = `workers with TLS and a rate limit per address${withOpenssl}`;

describe.skipIf(!canListProcesses || !hasOpenssl)(NAME, () => {
  const folder = mkdtempSync(join(tmpdir(), 'floodgate-workers-tls-'));
  const tls = { cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') };
  let chain: ReplicatedChain;
  let server: WorkersServer;
  const connections: KeepAliveConnection[] = [];

  const connect = (): KeepAliveConnection[] => {
    const ca = readFileSync(tls.cert);
    const made = Array.from(
      { length: CONNECTIONS },
      () => new KeepAliveConnection(server.gatewayUrl, { ca }),
    );
    connections.push(...made);
    return made;
  };
  /** Returns the fingerprint of the certificate on a new connection. */
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
    chain = await startReplicatedChain(1);
    await chain.grow(3);
    server = await startWorkersServer(
      {
        // Without a proxy, an address may begin at most 20 handshakes per second.
        config: {
          tls,
          upstream: chain.nodes.map(({ url }) => url),
          gateway: { ratePerAddress: RATE },
          http: { trustedProxies: ['127.0.0.1'] },
        },
        args: ['--index-poll-interval-ms', '100'],
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

  it('enforce the rate limit of an address over all workers', async () => {
    const askedAtMs = performance.now();
    let [admitted, refused] = [0, 0];
    while (refused < 20 * CONNECTIONS) {
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
    // A full bucket, the tokens since, and unused leases: a tenth of the rate per worker.
    expect(admitted).toBeLessThanOrEqual(RATE + RATE * seconds + (WORKERS * RATE) / 10);
  });

  it('all use a replaced certificate', async () => {
    const before = new X509Certificate(readFileSync(tls.cert)).fingerprint256;
    expect(await shown()).toBe(before);
    const changed = { cert: join(folder, 'new.pem'), key: join(folder, 'new.key') };
    makeCertificate(changed);
    renameSync(changed.key, tls.key);
    renameSync(changed.cert, tls.cert);
    const after = new X509Certificate(readFileSync(tls.cert)).fingerprint256;
    await until('the new certificate on all connections', async () => {
      const all = await Promise.all(Array.from({ length: CONNECTIONS }, shown));
      return all.every((fingerprint) => fingerprint === after);
    });
  });
});

describe.skipIf(!canListProcesses)('a server with workers on an idle chain', () => {
  let chain: ReplicatedChain;
  let server: WorkersServer;
  const connections: KeepAliveConnection[] = [];

  const connect = (): KeepAliveConnection[] => {
    const made = Array.from({ length: CONNECTIONS }, () => new KeepAliveConnection(server.gatewayUrl));
    connections.push(...made);
    return made;
  };

  beforeAll(async () => {
    chain = await startReplicatedChain(1);
    server = await startWorkersServer(
      {
        upstream: chain.nodes.map(({ url }) => url),
        env: { NODE_OPTIONS: `--require ${HANG_AT_SIGNAL}` },
      },
      WORKERS,
    );
  });
  afterAll(async () => {
    await server?.stop();
    await chain?.stop();
  });
  afterEach(() => {
    for (const connection of connections.splice(0)) connection.close();
  });

  it.each([
    { name: 'that is stopped with SIGSTOP', signal: 'SIGSTOP' },
    { name: 'with a busy event loop', signal: 'SIGUSR2' },
  ] as const)('replaces a worker $name while the others answer', async ({ signal }) => {
    // Spread evenly, so some connections belong to the worker that stops.
    const load = connect();
    const asked = load.map((connection) => connection.call('eth_chainId'));
    expect(new Set(await Promise.all(asked)).size).toBe(1);
    const [hung = 0, other = 0] = server.workers();
    const own = remotePortsOf(hung);
    const isOwn = ({ port }: KeepAliveConnection): boolean => own.includes(port ?? 0);
    expect(load.filter(isOwn).length).toBeGreaterThan(0);
    process.kill(hung, signal);
    // Until its event loop runs the handler of the signal, the worker answers.
    if (signal === 'SIGUSR2')
      await until('the worker to hang', () => server.output().includes(`${hung} hangs`));
    const isReplaced = until('the replacement of the worker', async () => {
      const workers = server.workers();
      return workers.length === WORKERS && !workers.includes(hung);
    });
    // Those connections close, and so does a new one that Node assigned to the worker.
    const fresh = connect();
    const waiting = [...load.filter(isOwn), ...fresh].map((connection) =>
      connection.call('eth_chainId').then(
        () => 'answered',
        () => 'closed',
      ),
    );
    let answers = 0;
    while (server.workers().includes(hung)) {
      for (const connection of load.filter((one) => !isOwn(one)))
        expect((await connection.post(CHAIN_ID)).status).toBe(200);
      answers++;
    }
    expect(answers).toBeGreaterThan(1);
    await isReplaced;
    const ends = await Promise.all(waiting);
    expect(ends.slice(0, -fresh.length)).toEqual(load.filter(isOwn).map(() => 'closed'));
    // Round robin assigns a worker the next connection only after it has accepted the previous one.
    expect(ends.slice(-fresh.length).filter((end) => end === 'closed').length).toBeLessThanOrEqual(1);
    await until(
      'all workers to be ready',
      async () => (await fetch(`${server.opsUrl}/readyz`)).status === 200,
    );
    expect(server.workers()).toContain(other);
    expect(server.output()).toContain('worker does not respond: killed');
  });
});
