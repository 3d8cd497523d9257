import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { floodgate } from '../rules/support/command.ts';
import { type Anvil, createTraffic, startAnvil } from '../support/anvil.ts';
import { ClickHouseServer, hasClickHouse, WITHOUT_CLICKHOUSE } from '../support/clickHouse.ts';
import { plainAnswer } from '../support/plainFilter.ts';
import { Postgres, postgresFolder, WITHOUT_POSTGRES } from '../support/postgres.ts';
import { Random } from '../support/random.ts';
import { type FloodgateProcess, startFloodgateProcess } from '../support/startFloodgate.ts';
import { until } from '../support/until.ts';
import { callTraceFilter, callTraceFilterAll, withoutId } from './support/callTraceFilter.ts';
import { readChain } from './support/nodeChain.ts';
import { addressesOf, randomQuery } from './support/randomQuery.ts';

const QUERIES = 25;

describe.skipIf(!hasClickHouse || postgresFolder === undefined)(
  `servers with a shared index on ClickHouse${WITHOUT_CLICKHOUSE}${WITHOUT_POSTGRES}`,
  () => {
    const random = new Random(61);
    let anvil: Anvil;
    let postgres: Postgres;
    let clickHouse: ClickHouseServer;
    const servers: FloodgateProcess[] = [];
    const store = (database = 'postgres') => [
      ...['--trace-store', clickHouse.url(), '--trace-store-postgres', postgres.url({ database })],
    ];

    beforeAll(async () => {
      anvil = await startAnvil();
      const traffic = await createTraffic({ url: anvil.url, seed: 61 });
      await traffic.run({ steps: 20 });
      [postgres, clickHouse] = await Promise.all([Postgres.start(['fsync=off']), ClickHouseServer.start()]);
      // The first server has a local index of the newest blocks, the second has none.
      for (const recent of ['8', '0'])
        servers.push(
          await startFloodgateProcess({
            upstream: anvil.url,
            args: [
              ...store(),
              ...[
                '--index-from',
                '0',
                '--index-poll-interval-ms',
                '100',
                '--trace-store-recent-blocks',
                recent,
              ],
            ],
          }),
        );
    });
    afterAll(async () => {
      for (const server of servers) await server.stop();
      await clickHouse?.remove();
      await postgres?.remove();
      await anvil?.stop();
    });

    async function expectExact(server: FloodgateProcess): Promise<void> {
      const chain = await readChain(anvil.url);
      await until('the last block of the node to be indexed', async () => {
        const { result } = await callTraceFilter(server.gatewayUrl, { count: 1 });
        return result?.[0]?.blockHash === chain.hashes[chain.head];
      });
      const addresses = addressesOf(chain.traces);
      const queries = Array.from({ length: QUERIES }, () => randomQuery(random, chain, addresses));
      const answers = await callTraceFilterAll(
        server.gatewayUrl,
        queries.map(({ asked }) => asked),
      );
      for (const [i, { meant }] of queries.entries()) {
        const answer = answers[i];
        expect(answer && withoutId(answer), JSON.stringify(meant)).toEqual(plainAnswer(chain.traces, meant));
      }
    }

    it('return identical results that match the node', async () => {
      for (const server of servers) await expectExact(server);
    });

    it('continue when the writing server is killed', async () => {
      const [killed, left] = servers.splice(0) as [FloodgateProcess, FloodgateProcess];
      servers.push(left);
      await killed.kill();
      const traffic = await createTraffic({ url: anvil.url, seed: 62 });
      await traffic.run({ steps: 6 });
      await expectExact(left);
    });

    it('are filled by floodgate index --to-store from the index of a data folder', async () => {
      await postgres.query('CREATE DATABASE filled');
      const dataDir = mkdtempSync(join(tmpdir(), 'floodgate-fill-'));
      try {
        const range = ['--from', '0', '--to', '12', '--data-dir', dataDir];
        const indexed = await floodgate(['index', ...range, '--upstream', anvil.url]);
        expect(indexed.status, indexed.stderr).toBe(0);
        const filled = await floodgate(['index', '--to-store', ...range, ...store('filled')]);
        expect(filled.status, filled.stderr).toBe(0);
        expect(filled.stderr).toContain('13 of 13 are missing');
        const again = await floodgate(['index', '--to-store', ...range, ...store('filled')]);
        expect(again.stderr).toContain('0 of 13 are missing');
        const [{ blocks } = {}] = await postgres.query(
          'SELECT count(*)::int AS blocks FROM floodgate_traces.blocks WHERE is_canonical',
          'filled',
        );
        expect(blocks).toBe(13);
      } finally {
        rmSync(dataDir, { recursive: true, force: true });
      }
    });

    it('report an unreachable database in one line', async () => {
      const away = 'postgres://a:secret@127.0.0.1:1/b';
      const stores = ['--trace-store', clickHouse.url(), '--trace-store-postgres', away];
      const { status, stderr } = await floodgate([
        'start',
        '--upstream',
        anvil.url,
        '--port',
        '0',
        ...stores,
      ]);
      expect(status).toBe(1);
      expect(stderr).toMatch(/(^|\n)floodgate: [^\n]*127\.0\.0\.1:1[^\n]*\n$/);
      expect(stderr).not.toContain('secret');
    });

    it('do not start without PostgreSQL and do not print the password', async () => {
      const { status, stderr } = await floodgate([
        'start',
        '--upstream',
        anvil.url,
        '--trace-store',
        'clickhouse://a:secret@127.0.0.1/b',
      ]);
      expect(status).not.toBe(0);
      expect(stderr).toContain('traceStorePostgres');
      expect(stderr).not.toContain('secret');
    });
  },
);
