import type { Command } from 'commander';
import {
  type EffectiveOption,
  effectiveOptions,
  loadConfig,
  rolesOf,
  shownValue,
  strayVariables,
} from '../../config/index.ts';
import { addHiddenConfigFlags, sourcesOf } from '../configFlags.ts';
import { print } from '../print.ts';
import { formatTable } from './rulesTable.ts';

/** `floodgate config check|print`: what `floodgate start` would go by, from the file, the variables and the flags. */
export function registerConfig(program: Command): void {
  const group = program
    .command('config')
    .description('what `floodgate start` would go by; takes the options of start too');

  addHiddenConfigFlags(
    group
      .command('check')
      .description(
        'say whether file, variables and flags are as they must be, and which variables are ignored',
      ),
  ).action(async (_flags: object, command: Command) => {
    const sources = sourcesOf(command);
    const set = effectiveOptions(sources).filter(({ from }) => from !== undefined);
    rolesOf(loadConfig(sources));
    for (const { variable, advice } of strayVariables(process.env))
      process.stderr.write(`warning: ${variable}: ${advice}\n`);
    await print(`The configuration can be used: ${set.length} of its options are set.`);
  });

  addHiddenConfigFlags(
    group.command('print').description('show every option, its value, and where that comes from; no secrets'),
  )
    .option('--json', 'print a JSON object a line')
    .action(async ({ json }: { json?: boolean }, command: Command) => {
      const options = effectiveOptions(sourcesOf(command));
      if (json) for (const one of options) await print(JSON.stringify(viewOf(one)));
      else await print(formatTable(['option', 'value', 'from'], options.map(rowOf)));
    });
}

const viewOf = (one: EffectiveOption): object => ({
  option: one.option.path,
  value: shownValue(one) ?? null,
  from: one.from ?? 'default',
});

function rowOf(one: EffectiveOption): string[] {
  const value = shownValue(one);
  const text = typeof value === 'string' ? value : value === undefined ? '-' : JSON.stringify(value);
  return [one.option.path, text, one.from ?? 'default'];
}
