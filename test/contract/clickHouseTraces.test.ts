import { afterAll, beforeAll, describe } from 'vitest';
import { openClickHouseTraces } from '../../src/ethereum/store/clickhouse/index.ts';
import { QUIET } from '../../src/platform/logging/index.ts';
import { ClickHouseServer, hasClickHouse, WITHOUT_CLICKHOUSE } from '../support/clickHouse.ts';
import { Postgres, postgresFolder, WITHOUT_POSTGRES } from '../support/postgres.ts';
import { traceStoreContract } from './traceStore.ts';

describe.skipIf(!hasClickHouse || postgresFolder === undefined)(
  `on ClickHouse${WITHOUT_CLICKHOUSE}${WITHOUT_POSTGRES}`,
  () => {
    let postgres: Postgres;
    let clickHouse: ClickHouseServer;
    beforeAll(async () => {
      [postgres, clickHouse] = await Promise.all([Postgres.start(['fsync=off']), ClickHouseServer.start()]);
    });
    afterAll(async () => {
      await postgres?.remove();
      await clickHouse?.remove();
    });

    let networks = 0;
    const notes = { sumsFew: false, every: 5 };
    const prepare = async () => {
      const network = `network-${networks++}`;
      return {
        open: () =>
          openClickHouseTraces({ url: clickHouse.url(), postgres: postgres.url(), network }, { log: QUIET }),
        remove: async () => undefined,
      };
    };
    traceStoreContract('ClickHouse', prepare, notes);
  },
);
