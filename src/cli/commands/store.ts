import type { Command } from 'commander';
import { readConfig } from '../configFlags.ts';
import { OperatorError } from '../operatorError.ts';
import { print } from '../print.ts';
import { registerStoreCopy } from './storeCopy.ts';
import { addRulesStoreFlags, withStorage } from './tokenStorage.ts';

/** `floodgate store migrate|copy`: the database of rules, where they are kept in one. */
export function registerStore(program: Command): void {
  const store = program
    .command('store')
    .description('the database that servers share, where rules are kept in one');
  const migrate = store
    .command('migrate')
    .description('make the tables of this release, or bring them to it; as the owner of the schema');
  addRulesStoreFlags(migrate).action(async () => {
    if (readConfig(migrate).rules.store === undefined)
      throw new OperatorError('Say which database: --rules-store postgres://…, or FLOODGATE_RULES_STORE');
    await withStorage(migrate, async () => print('The tables are those of this release.'));
  });
  registerStoreCopy(store);
}
