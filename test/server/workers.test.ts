import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { type ReplicatedChain, startReplicatedChain } from '../gateway/support/replicatedChain.ts';
import { call } from '../gateway/support/send.ts';
import { openWebSocket } from '../gateway/support/webSocketClient.ts';
import { ACCOUNTS } from '../support/anvil.ts';
import { cleanEnvironment } from '../support/cleanEnvironment.ts';
import { runProgram } from '../support/runProgram.ts';
import { sizeInSearch } from '../support/search.ts';
import { type FloodgateOptions, startFloodgate } from '../support/startFloodgate.ts';
import { until } from '../support/until.ts';
import { canListProcesses, remotePortsOf, running } from './support/processes.ts';
import {
  KeepAliveConnection,
  SteadyLoad,
  startWorkersServer,
  type WorkersServer,
} from './support/workersServer.ts';

const WORKERS = 3;
const SENDERS = ACCOUNTS.map(({ address }) => address);
/** The configuration file before a reload. */
const CONFIG = { gateway: { maxBodyBytes: 4096 } };
const BLOCK_NUMBER = { jsonrpc: '2.0', id: 1, method: 'eth_blockNumber', params: [] };
/** A batch that costs the worker more than its client. */
const BATCH = Array.from({ length: 40 }, () => BLOCK_NUMBER);
/** Number of new blocks that are requested from every worker. */
const HEADS = sizeInSearch(25, { ordinary: 6 });
/** Connections, several for each worker. */
const CONNECTIONS = 4 * WORKERS;

/** A block, as eth_getBlockByNumber returns it. */
interface Block {
  readonly transactions: string[];
}

describe.skipIf(!canListProcesses)('a server with workers', () => {
  let chain: ReplicatedChain;
  let upstream: string[];
  /** Shared by the tests that do not change it. */
  let server: WorkersServer;
  const connections: KeepAliveConnection[] = [];

  const start = (options: FloodgateOptions = {}, workers = WORKERS): Promise<WorkersServer> => {
    const args = ['--index-poll-interval-ms', '100', ...(options.args ?? [])];
    return startWorkersServer({ upstream, ...options, args }, workers);
  };
  const connect = (to = server): KeepAliveConnection[] => {
    const made = Array.from({ length: CONNECTIONS }, () => new KeepAliveConnection(to.gatewayUrl));
    connections.push(...made);
    return made;
  };

  beforeAll(async () => {
    chain = await startReplicatedChain(2);
    upstream = chain.nodes.map(({ url }) => url);
    await chain.grow(12);
    server = await start({ config: CONFIG });
  });
  afterAll(async () => {
    await server?.stop();
    await chain?.stop();
  });
  afterEach(() => {
    for (const connection of connections.splice(0)) connection.close();
  });

  it('returns the same responses as a server without workers', async () => {
    const one = await startFloodgate({ upstream });
    const head = chain.head();
    const block = (await call(one.gatewayUrl, 'eth_getBlockByNumber', `0x${head.toString(16)}`, true)).json
      .result;
    const transaction: string = block.transactions[0].hash;
    const range = { fromBlock: '0x1', toBlock: 'latest' };
    const calls: [string, ...unknown[]][] = [
      ['eth_blockNumber'],
      ['eth_chainId'],
      ['eth_getBlockByNumber', 'latest', false],
      ['eth_getBlockByNumber', '0x2', true],
      ['eth_getBlockByHash', block.hash, false],
      ['eth_getTransactionReceipt', transaction],
      ['eth_getBalance', block.transactions[0].from, 'latest'],
      ['eth_getLogs', range],
      ['eth_getLogs', { ...range, address: [], topics: 1 }],
      ['trace_filter', range],
      ['trace_filter', { ...range, after: 5, count: 7 }],
      ['trace_filter', { fromBlock: '0x1', toBlock: '0xffffff' }],
      ['trace_block', 'latest'],
      ['trace_transaction', transaction],
      ['trace_get', transaction, ['0x0']],
      ['floodgate_addressTraces', { addresses: [block.transactions[0].from] }],
      ['floodgate_addressSummary', block.transactions[0].from],
      ['eth_getFilterChanges', '0x1'],
      ['debug_traceCall'],
      ['rpc.discover'],
    ];
    await until('the head in the index', async () => {
      const { json } = await call(server.gatewayUrl, 'trace_block', 'latest');
      return json.result?.[0]?.blockNumber === head;
    });
    for (const [method, ...params] of calls) {
      const wanted = await call(one.gatewayUrl, method, ...params);
      for (const connection of connect()) {
        const answer = await connection.post({ jsonrpc: '2.0', id: 1, method, params });
        expect({ method, ...answer }).toEqual({ method, status: wanted.status, text: wanted.text });
      }
    }
    await one.stop();
  });

  it('continues a filter at any worker', async () => {
    const asked = connect();
    const id = await asked[0]?.call('eth_newBlockFilter');
    await chain.grow(2);
    const hash = (block: number) =>
      call(upstream[0] ?? '', 'eth_getBlockByNumber', `0x${block.toString(16)}`, false);
    const wanted = [];
    for (const block of [chain.head() - 1, chain.head()]) wanted.push((await hash(block)).json.result.hash);
    const reported: unknown[] = [];
    await until('the hashes of both blocks', async () => {
      for (const connection of asked)
        reported.push(...((await connection.call('eth_getFilterChanges', id)) as unknown[]));
      return reported.length >= wanted.length;
    });
    expect(reported).toEqual(wanted);
    expect(await asked[1]?.call('eth_uninstallFilter', id)).toBe(true);
    for (const connection of asked) expect(await connection.call('eth_uninstallFilter', id)).toBe(false);
  });

  it('sends each block and its traces to subscribers at every worker', async () => {
    const clients = await Promise.all(
      Array.from({ length: 2 * WORKERS }, () => openWebSocket(server.gatewayUrl)),
    );
    const subscribed = await Promise.all(
      clients.map(async (client) => {
        const heads = (await client.call('eth_subscribe', 'newHeads')).result;
        // Each block of the traffic has a transaction of one of these senders.
        const traces = (await client.call('eth_subscribe', 'traces', { address: SENDERS })).result;
        return { client, heads, traces };
      }),
    );
    await chain.grow(2);
    const head = chain.head();
    const traces = (await call(server.gatewayUrl, 'trace_block', `0x${head.toString(16)}`)).json.result;
    expect(traces.length).toBeGreaterThan(0);
    for (const { client, heads, traces } of subscribed) {
      await until('the notification of the last block', () =>
        client.notificationsOf(heads).some(({ number }) => Number(number) === head),
      );
      await until('the notification of its traces', () =>
        client.notificationsOf(traces).some(({ blockNumber }) => blockNumber === head),
      );
      const numbers = client.notificationsOf(heads).map(({ number }) => Number(number));
      expect(numbers.slice(-2)).toEqual([head - 1, head]);
    }
    for (const client of clients) client.close();
  });

  it('serves a block at every worker as soon as one worker returns its number', async () => {
    const asked = connect();
    const transactionsOf = async (block: string): Promise<string[]> =>
      ((await call(upstream[0] ?? '', 'eth_getBlockByNumber', block, false)).json.result as Block)
        .transactions;
    for (let i = 0; i < HEADS; i++) {
      await chain.grow(1);
      const number = `0x${chain.head().toString(16)}`;
      const [transaction] = await transactionsOf(number);
      const range = { fromBlock: number, toBlock: 'latest' };
      const calls: [string, ...unknown[]][] = [
        ['eth_getBlockByNumber', number, false],
        ['eth_getTransactionReceipt', transaction],
        ['eth_getBalance', SENDERS[0], number],
        ['eth_getLogs', range],
        ['trace_block', number],
        ['trace_filter', range],
        ['trace_transaction', transaction],
      ];
      await until('a worker with the new block', async () => {
        const numbers = await Promise.all(asked.map((connection) => connection.call('eth_blockNumber')));
        return numbers.includes(number);
      });
      // Requests to all workers at once, in different orders, so that each method may be the first one for the block.
      const answers = await Promise.all(
        asked.flatMap((connection, shift) =>
          calls.map(async (_, j) => {
            const [method, ...params] = calls[(j + shift) % calls.length] ?? ['none'];
            return { method, ...(await connection.answer(method, ...params)) };
          }),
        ),
      );
      expect(answers.filter(({ result }) => result === undefined || result === null)).toEqual([]);
    }
  });

  it('enforces the rate of a key over all workers, and rejects a revoked key at every worker immediately', async () => {
    const RATE = 20;
    const closed = await start();
    const made = await closed.operate('POST', '/gateway/keys', { name: 'one', rate_per_second: RATE });
    const { id, value } = made.result as { id: string; value: string };
    const headers = { authorization: `Bearer ${value}` };
    await until(
      'the gateway to require a key',
      async () => (await call(closed.gatewayUrl, 'eth_blockNumber')).status === 401,
    );
    /** Sends requests over new connections, which are spread over all workers. Returns the statuses. */
    const all = async (): Promise<number[]> => {
      const asked = connect(closed);
      const answers = await Promise.all(asked.map((one) => one.post(BLOCK_NUMBER, headers)));
      for (const one of asked) one.close();
      return answers.map(({ status }) => status);
    };
    const askedAtMs = performance.now();
    let [admitted, refused] = [0, 0];
    while (refused < 20 * CONNECTIONS)
      for (const status of await all()) {
        expect([200, 429]).toContain(status);
        if (status === 200) admitted++;
        else refused++;
      }
    const seconds = (performance.now() - askedAtMs) / 1_000;
    expect(admitted).toBeGreaterThanOrEqual(RATE / 2);
    // A full bucket, the tokens since, and unused leases: a tenth of the rate per worker.
    expect(admitted).toBeLessThanOrEqual(RATE + RATE * seconds + (WORKERS * RATE) / 10);
    expect((await closed.operate('DELETE', `/gateway/keys/${id}`)).status).toBe(200);
    expect(new Set(await all())).toEqual(new Set([401]));
    await closed.stop();
  });

  it('sums the metrics of all workers, and no counter decreases when a worker is killed', async () => {
    const asked = connect();
    const counted = async (): Promise<number> =>
      Number(
        /calls?_duration_seconds_count\{network="mainnet",method="eth_chainId"\} (\d+)/.exec(
          await server.metrics(),
        )?.[1],
      );
    const before = (await counted()) || 0;
    for (const connection of asked) await connection.call('eth_chainId');
    expect(await counted()).toBe(before + asked.length);
    expect(await server.metrics()).toContain(`floodgate_workers_ready ${WORKERS}`);
    const [worker] = server.workers();
    process.kill(worker ?? 0, 'SIGKILL');
    await until('503 from /readyz', async () => (await fetch(`${server.opsUrl}/readyz`)).status === 503);
    expect(await counted()).toBe(before + asked.length);
    await until(
      'all workers to be ready',
      async () => (await fetch(`${server.opsUrl}/readyz`)).status === 200,
    );
    expect(await server.metrics()).toMatch(/floodgate_worker_restarts_total [1-9]/);
    expect(server.workers()).toHaveLength(WORKERS);
  });

  it('loses only the connections of a worker that is killed under load, and restarts it', async () => {
    const before = server.workers();
    const load: SteadyLoad[] = [];
    /** Returns the workers with their connections, fewest connections first. */
    const places = () => {
      const asking = new Set(load.map(({ port }) => port));
      return before
        .map((pid) => ({ pid, ports: remotePortsOf(pid).filter((port) => asking.has(port)) }))
        .filter(({ ports }) => ports.length > 0)
        .sort((a, b) => a.ports.length - b.ports.length);
    };
    load.push(...Array.from({ length: CONNECTIONS }, () => new SteadyLoad(server.gatewayUrl, BATCH)));
    await Promise.all(load.map((one) => one.further(5)));
    expect(places()).toHaveLength(WORKERS);
    const [killed] = places();
    if (killed === undefined) throw new Error('no worker has a connection');
    // Suspended, so that its connections do not change until it is killed.
    process.kill(killed.pid, 'SIGSTOP');
    const own = remotePortsOf(killed.pid);
    const spared = load.filter(({ port }) => port !== undefined && !own.includes(port));
    expect(spared).not.toEqual([]);
    process.kill(killed.pid, 'SIGKILL');
    await until('503 from /readyz', async () => (await fetch(`${server.opsUrl}/readyz`)).status === 503);
    await until('the restarted worker', async () => (await fetch(`${server.opsUrl}/readyz`)).status === 200);
    await Promise.all(load.map((one) => one.further(5)));
    await Promise.all(load.map((one) => one.stop()));
    expect(spared.flatMap(({ lost }) => lost)).toEqual([]);
    expect(load.some(({ lost }) => lost.length > 0)).toBe(true);
    expect(server.workers()).toHaveLength(WORKERS);
    expect(server.workers()).not.toContain(killed.pid);
    expect(server.workers()).toEqual(expect.arrayContaining(before.filter((pid) => pid !== killed.pid)));
  });

  it('spreads concurrent connections over all workers', async () => {
    const load = Array.from({ length: CONNECTIONS }, () => new SteadyLoad(server.gatewayUrl, BLOCK_NUMBER));
    await Promise.all(load.map((one) => one.further(1)));
    const loadOf = (pid: number): number => {
      const ports = remotePortsOf(pid);
      return load.filter(({ port }) => ports.includes(port ?? 0)).length;
    };
    for (const pid of server.workers()) expect(loadOf(pid)).toBeGreaterThan(0);
    await Promise.all(load.map((one) => one.stop()));
    expect(load.flatMap(({ lost }) => lost)).toEqual([]);
  });

  it('reloads its configuration on SIGHUP without a lost request', async () => {
    const load = Array.from({ length: CONNECTIONS }, () => new SteadyLoad(server.gatewayUrl, BLOCK_NUMBER));
    await Promise.all(load.map((one) => one.further(5)));
    const before = server.workers();
    writeFileSync(
      join(server.dataDir, 'floodgate.yaml'),
      stringify({ gateway: { maxBodyBytes: 1024 }, port: 1 }),
    );
    server.process.kill('SIGHUP');
    await until('the log message of the reload', () => server.output().includes('configuration reloaded'));
    await Promise.all(load.map((one) => one.further(5)));
    await Promise.all(load.map((one) => one.stop()));
    expect(load.flatMap(({ lost }) => lost)).toEqual([]);
    expect(server.workers()).toHaveLength(WORKERS);
    for (const pid of before) expect(server.workers()).not.toContain(pid);
    const large = { ...BLOCK_NUMBER, id: 'x'.repeat(2_000) };
    for (const connection of connect()) expect((await connection.post(large)).status).toBe(413);

    // An invalid configuration is not applied.
    writeFileSync(join(server.dataDir, 'floodgate.yaml'), stringify({ gateway: { methods: ['eth_none'] } }));
    server.process.kill('SIGHUP');
    await until('the log message of the rejected configuration', () =>
      server.output().includes('configuration reload failed'),
    );
    expect((await call(server.gatewayUrl, 'eth_blockNumber')).status).toBe(200);
    writeFileSync(join(server.dataDir, 'floodgate.yaml'), stringify(CONFIG));
  });

  it('ends its workers when it is stopped or killed', async () => {
    const [stopped, killed] = await Promise.all([start({}, 2), start({}, 2)]);
    const workers = [stopped.workers(), killed.workers()].flat();
    expect(running(workers)).toHaveLength(4);
    expect(await stopped.stop()).toBe(0);
    await killed.kill();
    await until('the end of all workers', () => running(workers).length === 0);
  });

  it('sets MALLOC_TRIM_THRESHOLD_ for its workers unless the environment does', async () => {
    const reported = await start({ env: { MALLOC_TRIM_THRESHOLD_: '262144' } }, 2);
    const thresholds = ({ workers }: WorkersServer) =>
      workers().map((pid) =>
        readFileSync(`/proc/${pid}/environ`, 'utf8')
          .split('\0')
          .find((variable) => variable.startsWith('MALLOC_TRIM_THRESHOLD_=')),
      );
    expect(thresholds(server)).toEqual(Array(WORKERS).fill('MALLOC_TRIM_THRESHOLD_=131072'));
    expect(thresholds(reported)).toEqual(Array(2).fill('MALLOC_TRIM_THRESHOLD_=262144'));
    await reported.stop();
  });

  it('rejects options that cannot be combined with workers', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'floodgate-workers-'));
    const why = (...args: readonly string[]): Promise<string> =>
      runProgram(['start', '--port', '0', '--data-dir', dataDir, '--workers', '2', ...args], {
        env: cleanEnvironment({}),
      }).then(
        () => 'started',
        (error: Error) => error.message,
      );
    const node = ['--upstream', upstream[0] ?? ''];
    const ops = ['--ops-port', '0'];
    const deep = join(dataDir, 'x'.repeat(100));
    expect(await why(...node, '--data-dir', deep)).toContain('the path of a socket has at most 103 bytes');
    expect(await why(...ops, '--role', 'rules')).toContain('this server has no gateway');
    expect(await why(...node, ...ops, '--gateway-max-in-flight', '1')).toContain('gateway.maxInFlight is 1');
    rmSync(dataDir, { recursive: true });
  });
});
