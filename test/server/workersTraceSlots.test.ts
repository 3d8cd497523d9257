import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type InterceptedNode, startInterceptedNode } from '../gateway/support/interceptedNode.ts';
import { type Anvil, startAnvil } from '../support/anvil.ts';
import { until } from '../support/until.ts';
import { canListProcesses, remotePortsOf } from './support/processes.ts';
import { KeepAliveConnection, startWorkersServer, type WorkersServer } from './support/workersServer.ts';

/** More than are killed: the port closes with the last worker. */
const WORKERS = 3;
/** Longer than the replacement of a worker takes. */
const REQUEST_TIMEOUT_MS = 20_000;
const [GREEDY, OTHER] = ['198.51.100.1', '198.51.100.2'];

describe.skipIf(!canListProcesses)('the slots for traces of a killed worker', () => {
  let anvil: Anvil;
  let node: InterceptedNode;
  let server: WorkersServer;
  const connections: KeepAliveConnection[] = [];
  /** Accounts that the traces call, in the order in which the node receives the traces. */
  const traced: string[] = [];

  beforeAll(async () => {
    anvil = await startAnvil();
    node = await startInterceptedNode(anvil.url);
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    node.intercept = async ({ methods, body }, answer) => {
      if (methods[0] !== 'debug_traceCall') return answer();
      traced.push((JSON.parse(body) as { params: [{ to: string }] }).params[0].to);
      await released;
      return answer();
    };
    atEnd.push(release);
    server = await startWorkersServer(
      {
        upstream: node.url,
        config: {
          gateway: { requestTimeoutMs: REQUEST_TIMEOUT_MS, debugTracers: ['callTracer'] },
          http: { trustedProxies: ['127.0.0.1'] },
        },
      },
      WORKERS,
    );
  });
  const atEnd: (() => void)[] = [];
  afterAll(async () => {
    for (const connection of connections) connection.close();
    for (const end of atEnd) end();
    await server?.stop();
    await node?.stop();
    await anvil?.stop();
  });

  const account = (number: number) => `0x${number.toString(16).padStart(40, '0')}`;
  /** Sends a trace, and repeats it while the server refuses it because all slots are in use. */
  function trace(from: string, number: number): KeepAliveConnection {
    const connection = new KeepAliveConnection(new URL('/v1/mainnet', server.gatewayUrl).href);
    connections.push(connection);
    const params = [{ to: account(number) }, 'latest', { tracer: 'callTracer' }];
    const body = { jsonrpc: '2.0', id: 1, method: 'debug_traceCall', params };
    connection.post(body, { 'x-forwarded-for': from }).then(
      ({ status }) => status === 429 && trace(from, number),
      () => undefined, // a worker was killed, or the test has ended
    );
    return connection;
  }

  it('stay in use until the calls time out, because the node continues the traces', async () => {
    const sentMs = performance.now();
    const ports = [trace(GREEDY, 101), trace(GREEDY, 102)];
    await until('both traces of a client to run', () => traced.length === 2);
    const pids = server.workers().filter((pid) => {
      const remote = remotePortsOf(pid);
      return ports.some(({ port }) => remote.includes(port ?? 0));
    });
    expect(pids).not.toEqual([]);
    for (const pid of pids) process.kill(pid, 'SIGKILL');
    await until('the replacement of the workers', async () => {
      const running = server.workers();
      if (running.length < WORKERS || running.some((pid) => pids.includes(pid))) return false;
      return (await fetch(`${server.opsUrl}/readyz`)).status === 200;
    });

    trace(OTHER, 104);
    await until('the trace of another client to run', () => traced.includes(account(104)));
    trace(GREEDY, 103);
    await until('the third trace to run', () => traced.includes(account(103)));
    // Only a lower bound, which a slow machine cannot break.
    expect(performance.now() - sentMs).toBeGreaterThanOrEqual(REQUEST_TIMEOUT_MS);
  });
});
