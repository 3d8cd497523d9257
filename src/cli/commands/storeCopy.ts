import type { Command } from 'commander';
import type { RecordKind, StoreSummary } from '../../rules/index.ts';
import { needFolder } from '../needFolder.ts';
import { print } from '../print.ts';
import { formatTable } from './rulesTable.ts';

interface CopyFlags {
  readonly from: string;
  readonly to: string;
  readonly json?: boolean;
}

/** A terminal is drawn on this often; elsewhere a line is written this often. */
const DRAW_INTERVAL_MS = 100;
const LINE_INTERVAL_MS = 5_000;

/** As operators know what each kind of record is; those beside them serve the store itself. */
const NAMES: readonly (readonly [RecordKind, string])[] = [
  ['rule', 'rules'],
  ['entry', 'access list entries'],
  ['token', 'tokens'],
  ['key', 'API keys'],
  ['change', 'audit entries'],
  ['answer', 'retry keys'],
];
const DIGITS_SHOWN = 16;

/** `floodgate store copy`: everything of a store of rules into another. */
export function registerStoreCopy(store: Command): void {
  store
    .command('copy')
    .description(
      'copy rules, access lists, tokens, API keys and the audit from a data folder into a database, or back, unchanged; ' +
        'the target must be empty, no server may run on either. What was written is read back and compared. It may be killed: ' +
        'run it again',
    )
    .requiredOption('--from <store>', 'data folder, or postgres://… (a password is better in ~/.pgpass)')
    .requiredOption('--to <store>', 'likewise; a data folder that is missing is made')
    .option('--json', 'print a JSON object')
    .action(async ({ from, to, json }: CopyFlags) => {
      if (!/^postgres(ql)?:/.test(from)) needFolder(from, 'rules');
      const { copyStore } = await import('../../server/index.ts');
      const { progress, end } = drawn(process.stderr);
      const copied = await copyStore({ from, to, progress }).finally(end);
      if (json) return print(JSON.stringify(asObject(copied)));
      const rows = NAMES.map(([kind, name]) => [
        ...[name, String(copied.count(kind)), copied.digest(kind).slice(0, DIGITS_SHOWN)],
      ]);
      await print(`${formatTable(['copied', 'number', 'digest'], rows)}\nThe target has the same.`);
    });
}

const asObject = (copied: StoreSummary): object =>
  Object.fromEntries(
    NAMES.map(([kind, name]) => [
      name.replaceAll(' ', '_').toLowerCase(),
      { count: copied.count(kind), digest: copied.digest(kind) },
    ]),
  );

function drawn(stream: NodeJS.WriteStream): { progress: (read: StoreSummary) => void; end: () => void } {
  let lastMs = Date.now();
  const intervalMs = stream.isTTY ? DRAW_INTERVAL_MS : LINE_INTERVAL_MS;
  return {
    progress(read) {
      if (Date.now() - lastMs < intervalMs) return;
      lastMs = Date.now();
      const line = `${read.total} records copied, ${read.count('change')} of them of the audit`;
      stream.write(stream.isTTY ? `\r\x1b[K${line}` : `${line}\n`);
    },
    end: () => void (stream.isTTY && stream.write('\r\x1b[K')),
  };
}
