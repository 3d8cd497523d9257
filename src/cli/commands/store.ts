import type { Command } from 'commander';
import { readConfig } from '../configFlags.ts';
import { OperatorError } from '../operatorError.ts';
import { print } from '../output/print.ts';
import { addRulesStoreFlags, withStorage } from './access/tokenStorage.ts';
import { registerStoreCopy } from './storeCopy.ts';

/** `floodgate store migrate|copy`: creates the tables of the rules in PostgreSQL; copies a rules store. */
export function registerStore(program: Command): void {
  const store = program.command('store').description('manage the PostgreSQL database of the rules');
  const migrate = store
    .command('migrate')
    .description('create the tables of this release in a new database, as the owner of the schema');
  addRulesStoreFlags(migrate).action(async () => {
    if (readConfig(migrate).rules.store === undefined)
      throw new OperatorError(
        'The database is missing: use --rules-store postgres://…, or set FLOODGATE_RULES_STORE',
      );
    await withStorage(migrate, async () => print('The tables are up to date.'));
  });
  registerStoreCopy(store);
}
