import { afterAll, beforeAll, describe } from 'vitest';
import { SharedKeys } from '../../src/ethereum/gateway/index.ts';
import { QUIET } from '../../src/platform/logging/index.ts';
import { openPostgresRules } from '../../src/rules/store/postgres/index.ts';
import { Postgres, postgresFolder, WITHOUT_POSTGRES } from '../support/postgres.ts';
import { accessListStoreContract } from './accessListStoreContract.ts';
import { keyStoreContract } from './keyStoreContract.ts';
import { ruleStoreContract } from './ruleStoreContract.ts';
import { sessionStoreContract } from './sessionStoreContract.ts';
import { zonePolicyStoreContract } from './zonePolicyStoreContract.ts';

describe.skipIf(postgresFolder === undefined)(`on PostgreSQL${WITHOUT_POSTGRES}`, () => {
  let postgres: Postgres;
  beforeAll(async () => {
    postgres = await Postgres.start();
  });
  afterAll(() => postgres?.remove());

  const newPlace = () => {
    let cleared: Promise<unknown> | undefined;
    return {
      async open(now?: () => number) {
        cleared ??= postgres.query('DROP SCHEMA IF EXISTS floodgate CASCADE');
        await cleared;
        return openPostgresRules({ url: postgres.url(), now }, { log: QUIET });
      },
      remove: () => undefined,
    };
  };
  ruleStoreContract({ name: 'PostgreSQL', newPlace });
  accessListStoreContract({ name: 'PostgreSQL', newPlace });
  zonePolicyStoreContract({ name: 'PostgreSQL', newPlace });
  sessionStoreContract({ name: 'PostgreSQL', newPlace });
  keyStoreContract({
    name: 'PostgreSQL',
    newPlace() {
      const place = newPlace();
      return {
        ...place,
        async open() {
          const { shared, close } = await place.open();
          if (shared === undefined) throw new Error('the storage has no keys');
          return { keys: new SharedKeys(shared.keys), close };
        },
      };
    },
  });
});
