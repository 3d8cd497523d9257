import { afterAll, beforeAll, describe } from 'vitest';
import { migrateSharedTraces } from '../../src/ethereum/store/shared/index.ts';
import { ClickHouseServer, hasClickHouse, WITHOUT_CLICKHOUSE } from '../support/clickHouse.ts';
import { movingStore } from '../support/sharedIndex.ts';
import type { EngineNotes } from './addressTraces.ts';
import { traceStoreContract } from './traceStore.ts';

/** So few that most blocks of the contract are in ClickHouse. */
const KEPT_BLOCKS = 6;

describe.skipIf(!hasClickHouse)(`with older blocks on ClickHouse${WITHOUT_CLICKHOUSE}`, () => {
  let clickHouse: ClickHouseServer;
  beforeAll(async () => {
    clickHouse = await ClickHouseServer.start();
    await migrateSharedTraces(clickHouse.url());
  });
  afterAll(async () => {
    await clickHouse?.remove();
  });

  // Another test covers the embedded engine, whose code reads call trees of special shapes here too.
  const notes: EngineNotes = { sumsFew: false, every: 24, without: ['shapes'] };
  traceStoreContract('a local and a shared index', () => movingStore(clickHouse.url(), KEPT_BLOCKS), notes);
});
