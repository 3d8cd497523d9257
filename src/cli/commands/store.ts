import type { Command } from 'commander';
import { addOwnConfigFlags, readConfig } from '../configFlags.ts';
import { UsageError } from '../operatorError.ts';
import { print } from '../output/print.ts';
import { withStorage } from './access/tokenStorage.ts';
import { registerStoreCopy } from './storeCopy.ts';

/** `floodgate store migrate|copy`: creates tables of the rules and of the shared index; copies a rules store. */
export function registerStore(program: Command): void {
  const store = program.command('store').description('manage the databases that servers share');
  const migrate = store
    .command('migrate')
    .description(
      'create the tables of this release in new databases: the rules in PostgreSQL (--rules-store), as the owner of the ' +
        'schema, and the traces in ClickHouse (--trace-store)',
    );
  addOwnConfigFlags(migrate, ['dataDir', 'rules.store', 'traceStore']).action(async () => {
    const { rules, traceStore } = readConfig(migrate);
    if (rules.store === undefined && traceStore === undefined)
      throw new UsageError(
        'The database is missing: use --rules-store postgres://… (FLOODGATE_RULES_STORE) or --trace-store clickhouse://… (FLOODGATE_TRACE_STORE)',
      );
    if (rules.store !== undefined) await withStorage(migrate, async () => undefined);
    if (traceStore !== undefined)
      await (await import('../../server/index.ts')).migrateSharedIndex(traceStore);
    await print('The tables are up to date.');
  });
  registerStoreCopy(store);
}
