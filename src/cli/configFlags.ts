import { existsSync, readFileSync } from 'node:fs';
import { type Command, Option as Flag } from 'commander';
import { Type } from 'typebox';
import {
  allowed,
  type Config,
  ConfigError,
  ConfigSchema,
  loadConfig,
  type Option,
  optionsOf,
} from '../config/index.ts';

const DEFAULT_FILE = 'floodgate.yaml';

const OPTIONS = optionsOf(ConfigSchema);

/** Adds a flag for every option of the configuration, and `--config`. */
export function addConfigFlags(command: Command, defaults: Readonly<Record<string, unknown>> = {}): Command {
  command.option(
    '--config <file>',
    `configuration file (FLOODGATE_CONFIG; default ${DEFAULT_FILE}, if it exists)`,
  );
  for (const option of OPTIONS.filter(({ schema }) => !schema.fileOnly))
    command.addOption(flagOf(option, defaults[option.path]));
  return command;
}

function flagOf(option: Option, otherDefault: unknown): Flag {
  const { schema, flag, variable, path } = option;
  const value = Type.IsBoolean(schema) ? '' : Type.IsArray(schema) ? ' <value...>' : ' <value>';
  const fallback = otherDefault ?? schema.default;
  const notes = [
    variable,
    path === flag.slice(2) ? '' : `in the file ${path}`,
    fallback === undefined || (Array.isArray(fallback) && fallback.length === 0) ? '' : `default ${fallback}`,
    `allowed: ${allowed(schema)}`,
  ];
  const made = new Flag(
    `${flag}${value}`,
    `${schema.description ?? ''} (${notes.filter(Boolean).join('; ')})`,
  );
  // Flags are read by the option's path; commander would camel-case them.
  made.attributeName = () => path;
  return made;
}

/** The configuration from file, variables and the flags of a command, in rising order. Throws ConfigError. */
export function readConfig(command: Command, defaults: Readonly<Record<string, unknown>> = {}): Config {
  const flags = command.opts<Record<string, string | string[] | boolean | undefined>>();
  const named = typeof flags['config'] === 'string' ? flags['config'] : process.env['FLOODGATE_CONFIG'];
  const file = readFile(named);
  return loadConfig({ ...(file && { file }), environment: process.env, flags, defaults });
}

function readFile(named: string | undefined): { name: string; text: string } | undefined {
  const name = named ?? DEFAULT_FILE;
  if (named === undefined && !existsSync(name)) return undefined;
  try {
    return { name, text: readFileSync(name, 'utf8') };
  } catch (error) {
    throw new ConfigError(
      `the configuration file ${name} cannot be read: ${error instanceof Error ? error.message : error}`,
    );
  }
}
