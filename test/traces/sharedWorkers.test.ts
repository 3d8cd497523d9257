import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { canListProcesses } from '../server/support/processes.ts';
import {
  KeepAliveConnection,
  startWorkersServer,
  type WorkersServer,
} from '../server/support/workersServer.ts';
import { type Anvil, createTraffic, startAnvil } from '../support/anvil.ts';
import { ClickHouseServer, hasClickHouse, WITHOUT_CLICKHOUSE } from '../support/clickHouse.ts';
import { plainAnswer } from '../support/plainFilter.ts';
import { Postgres, postgresFolder, WITHOUT_POSTGRES } from '../support/postgres.ts';
import { Random } from '../support/random.ts';
import { sizeInSearch } from '../support/search.ts';
import { until } from '../support/until.ts';
import type { AnsweredTrace } from './support/callTraceFilter.ts';
import { type NodeChain, readChain } from './support/nodeChain.ts';
import { addressesOf, randomQuery } from './support/randomQuery.ts';
import { rebuildTail } from './support/rebuildTail.ts';

const WORKERS = 2;
/** Enough connections for each worker to have several. */
const CONNECTIONS = 4 * WORKERS;
/** A small number, so that the folder of the newest blocks is replaced often. */
const RECENT_BLOCKS = 3;
const QUERIES = 40;
/** Number of reorganisations during requests. */
const REPLACED = sizeInSearch(12, { ordinary: 4 });

describe.skipIf(!canListProcesses || !hasClickHouse || postgresFolder === undefined)(
  `workers with a shared index${WITHOUT_CLICKHOUSE}${WITHOUT_POSTGRES}`,
  () => {
    const random = new Random(71);
    let seed = 71;
    let anvil: Anvil;
    let postgres: Postgres;
    let clickHouse: ClickHouseServer;
    let server: WorkersServer;
    const connections: KeepAliveConnection[] = [];

    const connect = (): KeepAliveConnection[] => {
      const made = Array.from({ length: CONNECTIONS }, () => new KeepAliveConnection(server.gatewayUrl));
      connections.push(...made);
      return made;
    };
    const grow = async (steps: number): Promise<void> => {
      const traffic = await createTraffic({ url: anvil.url, seed: seed++ });
      await traffic.run({ steps });
    };

    beforeAll(async () => {
      anvil = await startAnvil();
      await grow(12);
      [postgres, clickHouse] = await Promise.all([Postgres.start(['fsync=off']), ClickHouseServer.start()]);
      const store = ['--trace-store', clickHouse.url(), '--trace-store-postgres', postgres.url()];
      const index = ['--index-from', '0', '--index-poll-interval-ms', '100'];
      const recent = ['--trace-store-recent-blocks', String(RECENT_BLOCKS)];
      server = await startWorkersServer(
        { upstream: anvil.url, args: [...store, ...index, ...recent] },
        WORKERS,
      );
    });
    afterAll(async () => {
      await server?.stop();
      await clickHouse?.remove();
      await postgres?.remove();
      await anvil?.stop();
    });
    afterEach(() => {
      for (const connection of connections.splice(0)) connection.close();
    });

    /** Checks that each worker returns the results of a plain filter over the node's traces. */
    async function expectExact(): Promise<void> {
      const chain = await readChain(anvil.url);
      const asked = connect();
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
      for (const blocks of [2, 5, 3]) {
        await grow(2 * RECENT_BLOCKS);
        await rebuildTail(anvil.url, { depth: 3, blocks, seed: seed++ });
        await expectExact();
      }
    });

    it('return each range from one chain during reorganisations', async () => {
      const wrong: string[] = [];
      for (let round = 0; round < REPLACED; round++) {
        // Replaces the folder of the newest blocks in every second round.
        await grow(round % 2);
        await expectExact();
        const before = await readChain(anvil.url);
        const toBlock = before.head;
        // A range in the local index of the newest blocks, and one that includes older blocks of the shared index.
        const ranges = [1, 2 * RECENT_BLOCKS].map((more) => ({ fromBlock: toBlock - more, toBlock }));
        const seen: Seen[] = [];
        let isFinished = false;
        const asking = connect().map(async (connection) => {
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

    it('serve the newest blocks while ClickHouse is down, and all blocks after its restart', async () => {
      await grow(1);
      await expectExact();
      const { head, hashes } = await readChain(anvil.url);
      const range = { fromBlock: head - RECENT_BLOCKS + 1, toBlock: head };
      const expectNewest = async (): Promise<void> => {
        const connection = new KeepAliveConnection(server.gatewayUrl);
        connections.push(connection);
        const traces = (await connection.call('trace_filter', range)) as AnsweredTrace[];
        const answered = new Set(traces.map(({ blockHash }) => blockHash));
        expect(answered).toEqual(new Set(hashes.slice(range.fromBlock, head + 1)));
      };
      await clickHouse.kill();
      for (let i = 0; i < CONNECTIONS; i++) await expectNewest();
      const [killed = 0] = server.workers();
      process.kill(killed, 'SIGKILL');
      await until('a worker that could not start', () => server.output().includes('worker could not start'));
      await until('the other worker to respond', () => expectNewest().then(...HELD));
      await clickHouse.restart();
      await until(
        'the server to be ready',
        async () => (await fetch(`${server.opsUrl}/readyz`)).status === 200,
      );
      await grow(1);
      await expectExact();
    });
  },
);

/** Handlers that convert a promise to whether it was fulfilled. */
const HELD = [() => true, () => false] as const;

interface Seen {
  /** Hashes of the blocks in one result. */
  readonly blocks: ReadonlySet<string>;
}

const blocksOnlyIn = (one: NodeChain, other: NodeChain): ReadonlySet<string> =>
  new Set(one.hashes.filter((hash) => !other.hashes.includes(hash)));

const has = (answer: Seen, blocks: ReadonlySet<string>): boolean =>
  [...blocks].some((hash) => answer.blocks.has(hash));
