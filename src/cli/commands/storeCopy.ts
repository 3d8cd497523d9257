import type { Command } from 'commander';
import { print } from '../output/print.ts';
import { requireStore } from '../requireStore.ts';
import { formatTable } from './rules/rulesTable.ts';

interface CopyFlags {
  readonly from: string;
  readonly to: string;
  readonly json?: boolean;
}

const TABLES = [
  ['rules', 'rules'],
  ['list_entries', 'access list entries'],
  ['zone_policies', 'zone policies'],
  ['tokens', 'tokens'],
  ['gateway_keys', 'API keys'],
  ['audit', 'audit entries'],
  ['idempotency_keys', 'retry keys'],
] as const;

/** `floodgate store copy`: copies a rules store into an empty one. */
export function registerStoreCopy(store: Command): void {
  store
    .command('copy')
    .description(
      'copy rules, access lists, zone policies, tokens, API keys and the audit from a data folder into a database, or back, unchanged; ' +
        'the target must be empty, and no server may use either. After an interruption, run it again',
    )
    .requiredOption('--from <store>', 'data folder, or postgres://… (prefer a password in ~/.pgpass)')
    .requiredOption('--to <store>', 'data folder, created if missing, or postgres://…')
    .option('--json', 'print a JSON object')
    .action(async ({ from, to, json }: CopyFlags) => {
      if (!/^postgres(ql)?:/.test(from)) requireStore(from, 'rules');
      const { copyStore } = await import('../../server/index.ts');
      const counts = await copyStore(from, to);
      const rows = TABLES.map(([table, name]) => [name, String(counts.get(table) ?? 0)] as const);
      if (!json) return print(formatTable(['copied', 'number'], rows));
      const members = rows.map(([name, count]) => [name.toLowerCase().replaceAll(' ', '_'), Number(count)]);
      await print(JSON.stringify(Object.fromEntries(members)));
    });
}
