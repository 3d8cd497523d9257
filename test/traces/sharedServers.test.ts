import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Trace } from '../../src/ethereum/traces/index.ts';
import { floodgate } from '../rules/support/command.ts';
import { canListProcesses } from '../server/support/processes.ts';
import {
  KeepAliveConnection,
  startWorkersServer,
  type WorkersServer,
} from '../server/support/workersServer.ts';
import { type Anvil, connect, createTraffic, startAnvil } from '../support/anvil.ts';
import { ClickHouseServer, hasClickHouse, WITHOUT_CLICKHOUSE } from '../support/clickHouse.ts';
import { CuttingProxy } from '../support/cuttingProxy.ts';
import { plainAnswer, recipientOf, senderOf } from '../support/plainFilter.ts';
import { plainSummary } from '../support/plainHistory.ts';
import { Random } from '../support/random.ts';
import { sizeInSearch } from '../support/search.ts';
import { type FloodgateProcess, startFloodgateProcess } from '../support/startFloodgate.ts';
import { until } from '../support/until.ts';
import type { AnsweredTrace } from './support/callTraceFilter.ts';
import { type NodeChain, readChain } from './support/nodeChain.ts';
import { addressesOf, randomQuery } from './support/randomQuery.ts';
import { rebuildTail } from './support/rebuildTail.ts';

const WORKERS = 2;
/** Enough connections for each worker to have several. */
const CONNECTIONS = 4 * WORKERS;
/** So few that local blocks are removed often. */
const RECENT_BLOCKS = 4;
const FINAL_DEPTH = 5;
const QUERIES = 30;
/** Number of reorganisations during requests. */
const REPLACED = sizeInSearch(12, { ordinary: 3 });
/** Empty blocks after the first ones, so that the node reports these as final. */
const EMPTY_BLOCKS = 80;

describe.skipIf(!canListProcesses || !hasClickHouse)(
  `an ingest server and a gateway with workers that share an index${WITHOUT_CLICKHOUSE}`,
  () => {
    const random = new Random(71);
    let seed = 71;
    let anvil: Anvil;
    let clickHouse: ClickHouseServer;
    /** Between the gateway and ClickHouse. */
    let proxy: CuttingProxy;
    let ingest: FloodgateProcess | undefined;
    let gateway: WorkersServer;
    const connections: KeepAliveConnection[] = [];
    const store = () => ['--trace-store', clickHouse.url()];
    const index = ['--index-poll-interval-ms', '100', '--index-finality', `depth:${FINAL_DEPTH}`];

    const connectAll = (): KeepAliveConnection[] => {
      const made = Array.from({ length: CONNECTIONS }, () => new KeepAliveConnection(gateway.gatewayUrl));
      connections.push(...made);
      return made;
    };
    const grow = async (steps: number): Promise<void> => {
      const traffic = await createTraffic({ url: anvil.url, seed: seed++ });
      await traffic.run({ steps });
    };
    const dataDir = mkdtempSync(join(tmpdir(), 'floodgate-gateway-'));
    const startGateway = async (): Promise<WorkersServer> =>
      startWorkersServer(
        {
          upstream: anvil.url,
          dataDir,
          args: [
            '--role',
            'gateway',
            '--trace-store',
            clickHouse.url({ port: proxy.port }),
            ...index,
            '--trace-store-recent-blocks',
            String(RECENT_BLOCKS),
          ],
        },
        WORKERS,
      );
    const sharedHead = async () => Number(await clickHouse.query('SELECT max(number) FROM trace_blocks'));
    const isShared = (blockNumber: number) =>
      until(`block ${blockNumber} in ClickHouse`, async () => (await sharedHead()) >= blockNumber);

    beforeAll(async () => {
      [anvil, clickHouse] = await Promise.all([startAnvil(), ClickHouseServer.start()]);
      proxy = await CuttingProxy.start(clickHouse.port);
      await grow(12);
      await connect(anvil.url).call('anvil_mine', `0x${EMPTY_BLOCKS.toString(16)}`);
      await grow(8);
      expect(await floodgate(['store', 'migrate', ...store()])).toMatchObject({ status: 0, stderr: '' });
      const args = ['--role', 'ingest', ...store(), ...index, '--index-from', '0'];
      ingest = await startFloodgateProcess({ upstream: anvil.url, args });
      gateway = await startGateway();
      await isShared((await readChain(anvil.url)).head - FINAL_DEPTH);
    });
    afterAll(async () => {
      await gateway?.stop();
      await ingest?.stop();
      await proxy?.stop();
      await clickHouse?.remove();
      await anvil?.stop();
      rmSync(dataDir, { recursive: true, force: true });
    });
    afterEach(() => {
      for (const connection of connections.splice(0)) connection.close();
    });

    /** Checks that each worker returns the results of a plain filter over the node's traces. */
    async function expectExact(): Promise<void> {
      const chain = await readChain(anvil.url);
      const asked = connectAll();
      await until('the last block of the node to be indexed', async () => {
        const traces = (await asked[0]?.call('trace_block', 'latest')) as AnsweredTrace[] | undefined;
        return traces?.[0]?.blockHash === chain.hashes[chain.head];
      });
      const addresses = addressesOf(chain.traces);
      for (let i = 0; i < QUERIES; i++) {
        const query = randomQuery(random, chain, addresses);
        const answer = await asked[i % asked.length]?.answer('trace_filter', query.asked);
        expect(answer, JSON.stringify(query.meant)).toMatchObject(plainAnswer(chain.traces, query.meant));
      }
    }

    it('return the results of the node while blocks are added and replaced', async () => {
      await expectExact();
      for (const blocks of [2, 5]) {
        await grow(2 * RECENT_BLOCKS);
        await rebuildTail(anvil.url, { depth: 3, blocks, seed: seed++ });
        await expectExact();
      }
    });

    it('return each range from one chain during reorganisations', async () => {
      const wrong: string[] = [];
      for (let round = 0; round < REPLACED; round++) {
        await grow(1 + (round % 2));
        await expectExact();
        const before = await readChain(anvil.url);
        const toBlock = before.head;
        // A range in the local index, and one that includes older blocks of the shared index.
        const ranges = [1, 4 * RECENT_BLOCKS].map((more) => ({ fromBlock: toBlock - more, toBlock }));
        const seen: Seen[] = [];
        let isFinished = false;
        const asking = connectAll().map(async (connection) => {
          for (let i = 0; !isFinished; i++) {
            const answer = await connection.call('trace_filter', ranges[i % ranges.length]);
            // The call fails while the chain is shorter than the range.
            if (answer === undefined) continue;
            const blocks = new Set((answer as AnsweredTrace[]).map(({ blockHash }) => blockHash));
            seen.push({ blocks });
          }
        });
        const depth = 1 + (round % RECENT_BLOCKS);
        await rebuildTail(anvil.url, { depth, blocks: depth, seed: seed++ });
        const after = await readChain(anvil.url);
        const [old, fresh] = [blocksOnlyIn(before, after), blocksOnlyIn(after, before)];
        await until('blocks of the new chain', () => seen.some((answer) => has(answer, fresh)));
        isFinished = true;
        await Promise.all(asking);
        if (seen.some((answer) => has(answer, old) && has(answer, fresh))) wrong.push(`round ${round}`);
      }
      expect(wrong).toEqual([]);
    });

    it('serve and index the newest blocks while ClickHouse is down, even after a restart', async () => {
      await expectExact();
      const { head } = await readChain(anvil.url);
      await clickHouse.kill();
      const answerOf = (fromBlock: number) => {
        const connection = new KeepAliveConnection(gateway.gatewayUrl);
        connections.push(connection);
        return connection.answer('trace_filter', { fromBlock, toBlock: fromBlock });
      };
      await gateway.kill();
      gateway = await startGateway();
      await grow(2);
      const { hashes } = await readChain(anvil.url);
      for (const number of [head - 1, head + 2])
        await until(`block ${number} in the gateway`, async () => {
          const { result } = (await answerOf(number)) as { result?: AnsweredTrace[] };
          return result?.[0]?.blockHash === hashes[number];
        });
      expect(await answerOf(2)).toMatchObject({ error: { code: -32603, data: { reason: 'noIndex' } } });
      await until('the metric', async () =>
        (await gateway.metrics()).includes('\nfloodgate_trace_store_up 0'),
      );
      expect(gateway.output()).toContain('the trace store is unreachable');
      await clickHouse.restart();
      await expectExact();
    });

    it('read damaged blocks from the node, and store none, if ClickHouse lacks rows or has wrong ones', async () => {
      const chain = await readChain(anvil.url);
      await isShared(chain.head - FINAL_DEPTH);
      await ingest?.stop();
      ingest = undefined;
      for (const damage of [
        'trace_parties DELETE WHERE number = 4',
        "trace_chunks UPDATE bytes = concat(bytes, 'x') WHERE number = 5",
        'trace_blocks DELETE WHERE number = 7',
      ])
        await clickHouse.query(`ALTER TABLE ${damage} SETTINGS mutations_sync = 2`);
      const rows = await clickHouse.query('SELECT count() FROM trace_blocks');
      const addresses = addressesOf(chain.traces);
      const where = (isWanted: (trace: Trace) => boolean) =>
        JSON.parse(JSON.stringify(chain.traces.filter(isWanted)));
      const all = { fromBlock: 0, toBlock: 20, fromAddress: addresses, count: 10 };
      const [address = '0x'] = addresses;
      const plain = plainSummary(chain.traces, address, { fromBlock: 1, toBlock: 20 });
      const history = { address, fromBlock: 1, toBlock: 20 };
      for (const [i, connection] of connectAll().slice(0, 3).entries()) {
        for (const number of [4, 5, 7])
          expect(await connection.call('trace_block', number)).toEqual(
            where((one) => one.blockNumber === number),
          );
        const { transactionHash: hash, blockHash } = where((one) => one.blockNumber === 5)[0];
        expect(await connection.call('trace_transaction', hash)).toEqual(
          where((one) => one.transactionHash === hash),
        );
        expect(await connection.call('trace_filter', { blockHash })).toEqual(
          where((one) => one.blockHash === blockHash),
        );
        const { asked, meant } = randomQuery(random, chain, addresses);
        const part = { fromBlock: i, toBlock: 15, count: 50 };
        expect(await connection.answer('trace_filter', { ...asked, ...part })).toMatchObject(
          plainAnswer(chain.traces, { ...meant, ...part, wantsAll: false }),
        );
        expect(await connection.call('trace_filter', all)).toEqual(
          where(({ blockNumber }) => blockNumber <= 20).slice(0, 10),
        );
        // Block 7 is missing, and not damaged: a history reports it.
        expect(await connection.call('floodgate_addressTraces', { ...history, order: 'asc' })).toMatchObject({
          traces: where(
            (trace) =>
              ![0, 7].includes(trace.blockNumber) &&
              trace.blockNumber <= 20 &&
              [senderOf(trace), recipientOf(trace)].includes(address),
          ).slice(0, 100),
          missing: [[7, 7]],
        });
        expect(await connection.call('floodgate_addressSummary', history)).toMatchObject({
          firstBlock: plain.firstBlock,
          missing: [[7, 7]],
        });
      }
      expect(await clickHouse.query('SELECT count() FROM trace_blocks')).toBe(rows);
      const again = ['index', '--to-store', '--upstream', anvil.url, ...store(), '--again', '4-7'];
      expect(await floodgate(again)).toMatchObject({ status: 0 });
      expect(await connectAll()[0]?.call('trace_filter', all)).toHaveLength(10);
    });

    it('report that ClickHouse is unreachable if it fails while the first process indexes a block', async () => {
      // More blocks than a worker fetches itself.
      const [first, last] = [9, 25];
      await clickHouse.query(
        `ALTER TABLE trace_blocks DELETE WHERE number BETWEEN ${first} AND ${last} SETTINGS mutations_sync = 2`,
      );
      // The first process reads unavailable blocks before it indexes a block for a worker.
      const isIndexing = proxy.stallNext('exactness = 1');
      const answer = connectAll()[0]?.answer('trace_filter', { fromBlock: first, toBlock: last });
      await isIndexing;
      proxy.isClosed = true;
      expect(await answer).toMatchObject({ error: { code: -32603, data: { reason: 'noIndex' } } });
      proxy.isClosed = false;
      const again = [
        'index',
        '--to-store',
        '--upstream',
        anvil.url,
        ...store(),
        '--again',
        `${first}-${last}`,
      ];
      expect(await floodgate(again)).toMatchObject({ status: 0 });
    });

    it('are checked, repaired, rewound and filled by commands', async () => {
      const { head } = await readChain(anvil.url);
      const verify = ['verify', ...store()];
      expect(await floodgate(verify)).toMatchObject({ status: 0, stdout: 'The shared index is whole.\n' });
      await clickHouse.query(
        'ALTER TABLE trace_parties UPDATE value = value + 1 WHERE number = 3 AND sides < 4 SETTINGS mutations_sync = 2',
      );
      await clickHouse.query('ALTER TABLE trace_chunks DELETE WHERE number = 5 SETTINGS mutations_sync = 2');
      const { status, stdout } = await floodgate(verify);
      expect([status, stdout.match(/block \d+/g)]).toEqual([1, ['block 3', 'block 5']]);
      const toStore = ['index', '--to-store', '--upstream', anvil.url, ...store()];
      expect(await floodgate([...toStore, '--again', '3-5'])).toMatchObject({
        status: 0,
        stdout: expect.stringContaining('Indexed 3 blocks'),
      });
      expect(await floodgate(verify)).toMatchObject({ status: 0 });
      expect(await floodgate([...toStore, '--rewind', '8'])).toMatchObject({
        stdout: `Removed the blocks above 8, up to ${await sharedHead()}. The highest block of the index is now 8.\n`,
      });
      const filled = await floodgate([...toStore, '--from', '0', '--to', '20']);
      expect(filled.stderr).toContain('12 of 21 are missing');
      expect((await floodgate([...toStore, '--from', '0', '--to', '20'])).stderr).toContain(
        '0 of 21 are missing',
      );
      expect(await floodgate([...toStore, '--from', '0', '--to', String(head)])).toMatchObject({
        stderr: expect.stringContaining(`--to ${head} is not final yet`),
      });
      const chain = await readChain(anvil.url);
      const [connection] = connectAll();
      const asked = { fromBlock: 0, toBlock: 20, count: 50 };
      expect(await connection?.call('trace_filter', asked)).toEqual(
        JSON.parse(JSON.stringify(chain.traces.filter(({ blockNumber }) => blockNumber <= 20).slice(0, 50))),
      );
    });

    it('name a missing table and a wrong URL at the start, and print no password', async () => {
      const start = ['start', '--upstream', anvil.url, '--port', '0', '--trace-store'];
      await clickHouse.query('RENAME TABLE trace_segments TO away');
      const missing = await floodgate([...start, clickHouse.url()]);
      expect(missing).toMatchObject({
        status: 64,
        stderr: expect.stringMatching(/trace_segments.*store migrate/),
      });
      const wrong = await floodgate([...start, 'clickhouse://a:secret@127.0.0.1,/b']);
      expect(wrong).toMatchObject({ status: 64, stderr: expect.stringContaining('not a URL of the form') });
      expect(wrong.stderr).not.toContain('secret');
    });
  },
);

interface Seen {
  /** Hashes of the blocks in one result. */
  readonly blocks: ReadonlySet<string>;
}

const blocksOnlyIn = (one: NodeChain, other: NodeChain): ReadonlySet<string> =>
  new Set(one.hashes.filter((hash) => !other.hashes.includes(hash)));

const has = (answer: Seen, blocks: ReadonlySet<string>): boolean =>
  [...blocks].some((hash) => answer.blocks.has(hash));
