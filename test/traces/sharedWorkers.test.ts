import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { canListProcesses } from '../server/support/processes.ts';
import { KeptConnection, startWorkersServer, type WorkersServer } from '../server/support/workersServer.ts';
import { type Anvil, createTraffic, startAnvil } from '../support/anvil.ts';
import { ClickHouseServer, hasClickHouse, WITHOUT_CLICKHOUSE } from '../support/clickHouse.ts';
import { plainFilter } from '../support/plainFilter.ts';
import { Postgres, postgresFolder, WITHOUT_POSTGRES } from '../support/postgres.ts';
import { Random } from '../support/random.ts';
import { inCi } from '../support/search.ts';
import { until } from '../support/until.ts';
import type { AnsweredTrace } from './support/ask.ts';
import { type NodeChain, readChain } from './support/nodeChain.ts';
import { addressesOf, randomQuery } from './support/randomQuery.ts';
import { rebuildTail } from './support/rebuildTail.ts';

const WORKERS = 2;
/** Several for each worker. */
const CONNECTIONS = 4 * WORKERS;
/** So few that the folder of the newest blocks is another again and again. */
const RECENT_BLOCKS = 3;
const QUERIES = 40;
const HEADS = inCi(15, { elsewhere: 5 });
/** Times that blocks are replaced while they are asked for. */
const REPLACED = inCi(12, { elsewhere: 4 });

describe.skipIf(!canListProcesses || !hasClickHouse || postgresFolder === undefined)(
  `workers on an index that instances share${WITHOUT_CLICKHOUSE}${WITHOUT_POSTGRES}`,
  () => {
    const random = new Random(71);
    let seed = 71;
    let anvil: Anvil;
    let postgres: Postgres;
    let clickHouse: ClickHouseServer;
    let server: WorkersServer;
    const connections: KeptConnection[] = [];

    const connect = (): KeptConnection[] => {
      const made = Array.from({ length: CONNECTIONS }, () => new KeptConnection(server.gatewayUrl));
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

    /** Each worker gives what a plain filter over the node's traces gives, of new blocks and of old ones. */
    async function expectExact(): Promise<void> {
      const chain = await readChain(anvil.url);
      const asked = connect();
      await until('the index has the last block of the node', async () => {
        const traces = (await asked[0]?.call('trace_block', 'latest')) as AnsweredTrace[] | undefined;
        return traces?.[0]?.blockHash === chain.hashes[chain.head];
      });
      const addresses = addressesOf(chain.traces);
      for (let i = 0; i < QUERIES; i++) {
        const query = randomQuery(random, chain, addresses);
        const answer = await asked[i % asked.length]?.call('trace_filter', query.asked);
        expect(answer, JSON.stringify(query.meant)).toEqual(plainFilter(chain.traces, query.meant));
      }
    }

    it('answer as the node, over blocks that come and are replaced', async () => {
      await expectExact();
      for (const blocks of [2, 5, 3]) {
        await grow(2 * RECENT_BLOCKS);
        await rebuildTail(anvil.url, { depth: 3, blocks, seed: seed++ });
        await expectExact();
      }
    });

    it('answer by one head, whichever is asked', async () => {
      let isOver = false;
      const back: string[] = [];
      const highest = { block: 0 };
      const asking = connect().map(async (connection) => {
        while (!isOver) {
          const floor = highest.block;
          const traces = (await connection.call('trace_block', 'latest')) as AnsweredTrace[] | undefined;
          const block = traces?.[0]?.blockNumber;
          if (block === undefined) continue;
          if (block < floor) back.push(`${block} after ${floor}`);
          highest.block = Math.max(highest.block, block);
        }
      });
      for (let i = 0; i < HEADS; i++) {
        await grow(1);
        const { head } = await readChain(anvil.url);
        await until('the head is answered', () => highest.block === head);
      }
      isOver = true;
      await Promise.all(asking);
      expect(back).toEqual([]);
    });

    it('answer each range of one chain, and never of the one before again, while blocks are replaced', async () => {
      const wrong: string[] = [];
      for (let round = 0; round < REPLACED; round++) {
        // The folder of the newest blocks is another as often as not.
        await grow(round % 2);
        await expectExact();
        const before = await readChain(anvil.url);
        const toBlock = before.head;
        // What is kept nearer, and what is read where all instances read it.
        const ranges = [1, 2 * RECENT_BLOCKS].map((more) => ({ fromBlock: toBlock - more, toBlock }));
        const seen: Seen[] = [];
        let isOver = false;
        let now = 0;
        const asking = connect().map(async (connection) => {
          for (let i = 0; !isOver; i++) {
            const sentAt = now++;
            const answer = await connection.call('trace_filter', ranges[i % ranges.length]);
            // None while the chain is as short as it was rolled back.
            if (answer === undefined) continue;
            const blocks = new Set((answer as AnsweredTrace[]).map(({ blockHash }) => blockHash));
            seen.push({ blocks, sentAt, at: now++ });
          }
        });
        const depth = 1 + (round % RECENT_BLOCKS);
        await rebuildTail(anvil.url, { depth, blocks: depth, seed: seed++ });
        const after = await readChain(anvil.url);
        const [old, fresh] = [blocksOnlyIn(before, after), blocksOnlyIn(after, before)];
        await until('blocks that are new are answered', () => seen.some((answer) => has(answer, fresh)));
        isOver = true;
        await Promise.all(asking);
        const changedAt = Math.min(...seen.filter((answer) => has(answer, fresh)).map(({ at }) => at));
        for (const answer of seen.filter((one) => has(one, old))) {
          if (has(answer, fresh)) wrong.push('an answer of two chains');
          if (answer.sentAt > changedAt) wrong.push('an answer of the chain before');
        }
      }
      expect(wrong).toEqual([]);
    });

    it('answer of the newest blocks where ClickHouse is away, and of all when it is back', async () => {
      await grow(1);
      await expectExact();
      const { head, hashes } = await readChain(anvil.url);
      const range = { fromBlock: head - RECENT_BLOCKS + 1, toBlock: head };
      const expectNewest = async (): Promise<void> => {
        const connection = new KeptConnection(server.gatewayUrl);
        connections.push(connection);
        const traces = (await connection.call('trace_filter', range)) as AnsweredTrace[];
        const answered = new Set(traces.map(({ blockHash }) => blockHash));
        expect(answered).toEqual(new Set(hashes.slice(range.fromBlock, head + 1)));
      };
      await clickHouse.kill();
      for (let i = 0; i < CONNECTIONS; i++) await expectNewest();
      const [killed = 0] = server.workers();
      process.kill(killed, 'SIGKILL');
      await until('another cannot start', () => server.output().includes('a worker could not start'));
      await until('the other answers', () => expectNewest().then(...HELD));
      await clickHouse.restart();
      await until('all answer', async () => (await fetch(`${server.opsUrl}/readyz`)).status === 200);
      await grow(1);
      await expectExact();
    });
  },
);

/** Whether it did what was expected of it. */
const HELD = [() => true, () => false] as const;

/** An answer, with when it was asked for and when it came, in steps. */
interface Seen {
  /** Hashes of those that it has traces of. */
  readonly blocks: ReadonlySet<string>;
  readonly sentAt: number;
  readonly at: number;
}

const blocksOnlyIn = (one: NodeChain, other: NodeChain): ReadonlySet<string> =>
  new Set(one.hashes.filter((hash) => !other.hashes.includes(hash)));

const has = (answer: Seen, blocks: ReadonlySet<string>): boolean =>
  [...blocks].some((hash) => answer.blocks.has(hash));
