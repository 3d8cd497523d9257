import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { type SameChain, startSameChain } from '../gateway/support/sameChain.ts';
import { call } from '../gateway/support/send.ts';
import { openWebSocket } from '../gateway/support/webSocketClient.ts';
import { ACCOUNTS } from '../support/anvil.ts';
import { cleanEnvironment } from '../support/cleanEnvironment.ts';
import { runProgram } from '../support/runProgram.ts';
import { inCi } from '../support/search.ts';
import { type FloodgateOptions, startFloodgate } from '../support/startFloodgate.ts';
import { until } from '../support/until.ts';
import { canListProcesses, portsConnectedWith, running } from './support/processes.ts';
import {
  KeptConnection,
  SteadyLoad,
  startWorkersServer,
  type WorkersServer,
} from './support/workersServer.ts';

const WORKERS = 3;
const SENDERS = ACCOUNTS.map(({ address }) => address);
/** What the file says before a reload. */
const CONFIG = { gateway: { maxBodyBytes: 4096 } };
const BLOCK_NUMBER = { jsonrpc: '2.0', id: 1, method: 'eth_blockNumber', params: [] };
/** More work for a worker than for who asks. */
const BATCH = Array.from({ length: 40 }, () => BLOCK_NUMBER);
/** Blocks that come while a head is asked for, each seen. */
const HEADS = inCi(25, { elsewhere: 6 });
/** Several for each worker. */
const CONNECTIONS = 4 * WORKERS;

describe.skipIf(!canListProcesses)('a server with workers', () => {
  let chain: SameChain;
  let upstream: string[];
  /** Of the tests that leave it as it was. */
  let server: WorkersServer;
  const connections: KeptConnection[] = [];

  const start = (options: FloodgateOptions = {}, workers = WORKERS): Promise<WorkersServer> => {
    const args = ['--index-poll-interval-ms', '100', ...(options.args ?? [])];
    return startWorkersServer({ upstream, ...options, args }, workers);
  };
  const connect = (to = server): KeptConnection[] => {
    const made = Array.from({ length: CONNECTIONS }, () => new KeptConnection(to.gatewayUrl));
    connections.push(...made);
    return made;
  };

  beforeAll(async () => {
    chain = await startSameChain(2);
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

  it('answers as one process does', async () => {
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
    await until('the index has followed', async () => {
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

  it('a filter goes on whichever worker is asked', async () => {
    const asked = connect();
    const id = await asked[0]?.call('eth_newBlockFilter');
    await chain.grow(2);
    const hash = (block: number) =>
      call(upstream[0] ?? '', 'eth_getBlockByNumber', `0x${block.toString(16)}`, false);
    const wanted = [];
    for (const block of [chain.head() - 1, chain.head()]) wanted.push((await hash(block)).json.result.hash);
    const told: unknown[] = [];
    await until('both blocks are told', async () => {
      for (const connection of asked)
        told.push(...((await connection.call('eth_getFilterChanges', id)) as unknown[]));
      return told.length >= wanted.length;
    });
    expect(told).toEqual(wanted);
    expect(await asked[1]?.call('eth_uninstallFilter', id)).toBe(true);
    for (const connection of asked) expect(await connection.call('eth_uninstallFilter', id)).toBe(false);
  });

  it('whoever is subscribed is told of each block and its traces, whichever worker it is connected to', async () => {
    const clients = await Promise.all(
      Array.from({ length: 2 * WORKERS }, () => openWebSocket(server.gatewayUrl)),
    );
    const subscribed = await Promise.all(
      clients.map(async (client) => {
        const heads = (await client.call('eth_subscribe', 'newHeads')).result;
        // Whatever the chain's traffic is, each block of it has one of these.
        const traces = (await client.call('eth_subscribe', 'traces', { address: SENDERS })).result;
        return { client, heads, traces };
      }),
    );
    await chain.grow(2);
    const head = chain.head();
    const traces = (await call(server.gatewayUrl, 'trace_block', `0x${head.toString(16)}`)).json.result;
    expect(traces.length).toBeGreaterThan(0);
    for (const { client, heads, traces } of subscribed) {
      await until('the last block is told', () =>
        client.pushed(heads).some(({ number }) => Number(number) === head),
      );
      await until('its traces are told', () =>
        client.pushed(traces).some(({ blockNumber }) => blockNumber === head),
      );
      const numbers = client.pushed(heads).map(({ number }) => Number(number));
      expect(numbers.slice(-2)).toEqual([head - 1, head]);
    }
    for (const client of clients) client.close();
  });

  it('no client sees the head go back, whichever worker answers, while blocks come and are replaced', async () => {
    const seen = new Set<string>();
    let latest = '';
    /** Times that a head was seen again after another had been. */
    let returns = 0;
    let isOver = false;
    // One request at a time: each is sent when the one before was answered.
    const asking = (async () => {
      const asked = connect();
      for (let i = 0; !isOver; i++) {
        const block = await asked[i % asked.length]?.call('eth_getBlockByNumber', 'latest', false);
        const { hash } = block as { hash: string };
        if (hash === latest) continue;
        if (seen.has(hash)) returns++;
        seen.add(hash);
        latest = hash;
      }
    })();
    const hashOfHead = async (): Promise<string> =>
      (await call(upstream[0] ?? '', 'eth_getBlockByNumber', 'latest', false)).json.result.hash;
    const isSeen = async (): Promise<void> => {
      const hash = await hashOfHead();
      await until('the head is answered', () => seen.has(hash));
    };
    for (let i = 0; i < HEADS; i++) {
      await chain.grow(1);
      await isSeen();
    }
    expect(returns).toBe(0);
    // A node that is asked between taking blocks back and making others says the truth: the head has gone back, once.
    const replaced = 4;
    for (let i = 0; i < replaced; i++) {
      await chain.replace(2);
      await isSeen();
    }
    isOver = true;
    await asking;
    expect(returns).toBeLessThanOrEqual(replaced);
  });

  it('nor does one of many at once, of nodes or index, be a worker as busy as it may', async () => {
    let isOver = false;
    const back: string[] = [];
    /** Asks over all connections at once: what is sent after an answer is of its block or a later one. */
    const ask = (read: (connection: KeptConnection) => Promise<number | undefined>) => {
      const highest = { block: 0 };
      const asking = connect().map(async (connection) => {
        while (!isOver) {
          const floor = highest.block;
          const block = await read(connection);
          if (block === undefined) continue;
          if (block < floor) back.push(`${block} after ${floor}`);
          highest.block = Math.max(highest.block, block);
        }
      });
      return { highest, over: Promise.all(asking) };
    };
    const ofNodes = ask(async (connection) => Number(await connection.call('eth_blockNumber')));
    const ofIndex = ask(async (connection) => {
      const traces = (await connection.call('trace_block', 'latest')) as { blockNumber: number }[];
      return traces[0]?.blockNumber;
    });
    for (let i = 0; i < HEADS; i++) {
      await chain.grow(1);
      const head = chain.head();
      await until('the head is answered', () =>
        [ofNodes, ofIndex].every(({ highest }) => highest.block === head),
      );
    }
    isOver = true;
    await Promise.all([ofNodes.over, ofIndex.over]);
    expect(back).toEqual([]);
  });

  it('a rate is that of all workers together, and a key that is revoked is refused by each at once', async () => {
    const RATE = 20;
    const closed = await start();
    const made = await closed.operate('POST', '/gateway/keys', { name: 'one', rate_per_second: RATE });
    const { id, value } = made.result as { id: string; value: string };
    const headers = { authorization: `Bearer ${value}` };
    await until(
      'the gateway is closed',
      async () => (await call(closed.gatewayUrl, 'eth_blockNumber')).status === 401,
    );
    /** Over new connections: those that are made at once may all be one worker's. */
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
    // A full bucket, what came in since, and what was leased and not used: a tenth a worker.
    expect(admitted).toBeLessThanOrEqual(RATE + RATE * seconds + (WORKERS * RATE) / 10);
    expect((await closed.operate('DELETE', `/gateway/keys/${id}`)).status).toBe(200);
    expect(new Set(await all())).toEqual(new Set([401]));
    await closed.stop();
  });

  it('metrics are the sum, and no counter goes down when a worker dies', async () => {
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
    await until('it is told', async () => (await fetch(`${server.opsUrl}/readyz`)).status === 503);
    expect(await counted()).toBe(before + asked.length);
    await until('all are ready', async () => (await fetch(`${server.opsUrl}/readyz`)).status === 200);
    expect(await server.metrics()).toMatch(/floodgate_worker_restarts_total [1-9]/);
    expect(server.workers()).toHaveLength(WORKERS);
  });

  it('a worker that is killed under load takes nobody down but its own connections, and is started again', async () => {
    const before = server.workers();
    const load: SteadyLoad[] = [];
    /** Where the load is, by worker: the one with the least first. */
    const places = () => {
      const asking = new Set(load.map(({ port }) => port));
      return before
        .map((pid) => ({ pid, ports: portsConnectedWith(pid).filter((port) => asking.has(port)) }))
        .filter(({ ports }) => ports.length > 0)
        .sort((a, b) => a.ports.length - b.ports.length);
    };
    // All connections of a moment may be one worker's.
    do {
      load.push(...Array.from({ length: CONNECTIONS }, () => new SteadyLoad(server.gatewayUrl, BATCH)));
      await Promise.all(load.map((one) => one.further(5)));
    } while (places().length < 2);
    const [killed] = places();
    if (killed === undefined) throw new Error('there is load');
    // From here on it accepts none.
    process.kill(killed.pid, 'SIGSTOP');
    const own = portsConnectedWith(killed.pid);
    // Who connects anew just now, as its worker had more to do than others, may have come to that one.
    const spared = load.filter(({ port }) => port !== undefined && !own.includes(port));
    expect(spared).not.toEqual([]);
    process.kill(killed.pid, 'SIGKILL');
    await until('it is told', async () => (await fetch(`${server.opsUrl}/readyz`)).status === 503);
    await until('another is there', async () => (await fetch(`${server.opsUrl}/readyz`)).status === 200);
    await Promise.all(load.map((one) => one.further(5)));
    await Promise.all(load.map((one) => one.stop()));
    expect(spared.flatMap(({ lost }) => lost)).toEqual([]);
    expect(load.some(({ lost }) => lost.length > 0)).toBe(true);
    expect(server.workers()).toHaveLength(WORKERS);
    expect(server.workers()).not.toContain(killed.pid);
    expect(server.workers()).toEqual(expect.arrayContaining(before.filter((pid) => pid !== killed.pid)));
  });

  it('clients that came to few of the workers are spread over all, and none of their calls is lost', async () => {
    const load = Array.from({ length: 2 * CONNECTIONS }, () => new SteadyLoad(server.gatewayUrl, BATCH));
    const loadOf = (pid: number): number => {
      const ports = portsConnectedWith(pid);
      return load.filter(({ port }) => ports.includes(port ?? 0)).length;
    };
    await until('each worker has some', () => server.workers().every((pid) => loadOf(pid) > 0));
    await Promise.all(load.map((one) => one.stop()));
    expect(load.flatMap(({ lost }) => lost)).toEqual([]);
  });

  it('SIGHUP takes the configuration over under load, without a lost request', async () => {
    const load = Array.from({ length: CONNECTIONS }, () => new SteadyLoad(server.gatewayUrl, BLOCK_NUMBER));
    await Promise.all(load.map((one) => one.further(5)));
    const before = server.workers();
    writeFileSync(
      join(server.dataDir, 'floodgate.yaml'),
      stringify({ gateway: { maxBodyBytes: 1024 }, port: 1 }),
    );
    server.process.kill('SIGHUP');
    await until('it is reloaded', () => server.output().includes('the configuration is reloaded'));
    await Promise.all(load.map((one) => one.further(5)));
    await Promise.all(load.map((one) => one.stop()));
    expect(load.flatMap(({ lost }) => lost)).toEqual([]);
    expect(server.workers()).toHaveLength(WORKERS);
    for (const pid of before) expect(server.workers()).not.toContain(pid);
    const large = { ...BLOCK_NUMBER, id: 'x'.repeat(2_000) };
    for (const connection of connect()) expect((await connection.post(large)).status).toBe(413);

    // What cannot be is not taken over.
    writeFileSync(join(server.dataDir, 'floodgate.yaml'), stringify({ gateway: { methods: ['eth_none'] } }));
    server.process.kill('SIGHUP');
    await until('it is refused', () => server.output().includes('the configuration is not reloaded'));
    expect((await call(server.gatewayUrl, 'eth_blockNumber')).status).toBe(200);
    writeFileSync(join(server.dataDir, 'floodgate.yaml'), stringify(CONFIG));
  });

  it('workers end with the process that started them, however that ends', async () => {
    const [stopped, killed] = await Promise.all([start({}, 2), start({}, 2)]);
    const workers = [stopped.workers(), killed.workers()].flat();
    expect(running(workers)).toHaveLength(4);
    expect(await stopped.stop()).toBe(0);
    await killed.kill();
    await until('none runs', () => running(workers).length === 0);
  });

  it('workers give free memory back to the system, unless the environment says from where on', async () => {
    const told = await start({ env: { MALLOC_TRIM_THRESHOLD_: '262144' } }, 2);
    const thresholds = ({ workers }: WorkersServer) =>
      workers().map((pid) =>
        readFileSync(`/proc/${pid}/environ`, 'utf8')
          .split('\0')
          .find((variable) => variable.startsWith('MALLOC_TRIM_THRESHOLD_=')),
      );
    expect(thresholds(server)).toEqual(Array(WORKERS).fill('MALLOC_TRIM_THRESHOLD_=131072'));
    expect(thresholds(told)).toEqual(Array(2).fill('MALLOC_TRIM_THRESHOLD_=262144'));
    await told.stop();
  });

  it('what does not go with workers is refused, with what to set', async () => {
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
    expect(await why(...node, '--data-dir', deep)).toContain('the path of one has 103 bytes at most');
    expect(await why(...ops, '--rules-only')).toContain('this server has no gateway');
    expect(await why(...node, ...ops, '--gateway-max-in-flight', '1')).toContain('gateway.maxInFlight is 1');
    rmSync(dataDir, { recursive: true });
  });
});
