import type { Command } from 'commander';
import {
  displayValue,
  type EffectiveOption,
  effectiveOptions,
  loadConfig,
  unknownVariables,
} from '../../config/index.ts';
import { addHiddenConfigFlags, sourcesOf } from '../configFlags.ts';
import { print } from '../output/print.ts';
import { formatTable } from './rules/rulesTable.ts';

/** `floodgate config check|print`: the effective configuration of `floodgate start`. */
export function registerConfig(program: Command): void {
  const group = program
    .command('config')
    .description('show or check the effective configuration of `floodgate start`; accepts its options');

  addHiddenConfigFlags(
    group
      .command('check')
      .description('check file, variables and flags, and list variables that are ignored'),
  ).action(async (_flags: object, command: Command) => {
    const sources = sourcesOf(command);
    const set = effectiveOptions(sources).filter(({ from }) => from !== undefined);
    // The server is loaded on demand, because `config print` does not need it.
    const { checkConfig } = await import('../../server/index.ts');
    checkConfig(loadConfig(sources));
    for (const { variable, advice } of unknownVariables(process.env))
      process.stderr.write(`warning: ${variable}: ${advice}\n`);
    await print(`The configuration is valid: ${set.length} options are set.`);
  });

  addHiddenConfigFlags(
    group.command('print').description('print each option with its value and its source, without secrets'),
  )
    .option('--json', 'print one JSON object per line')
    .action(async ({ json }: { json?: boolean }, command: Command) => {
      const options = effectiveOptions(sourcesOf(command));
      if (json) for (const one of options) await print(JSON.stringify(viewOf(one)));
      else await print(formatTable(['option', 'value', 'from'], options.map(rowOf)));
    });
}

const viewOf = (one: EffectiveOption): object => ({
  option: one.option.path,
  value: displayValue(one) ?? null,
  from: one.from ?? 'default',
});

function rowOf(one: EffectiveOption): string[] {
  const value = displayValue(one);
  const text = typeof value === 'string' ? value : value === undefined ? '-' : JSON.stringify(value);
  return [one.option.path, text, one.from ?? 'default'];
}
