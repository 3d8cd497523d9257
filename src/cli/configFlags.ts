import { existsSync, readFileSync } from 'node:fs';
import { type Command, Option as Flag } from 'commander';
import { Type } from 'typebox';
import {
  allowed,
  type Config,
  ConfigError,
  ConfigSchema,
  type ConfigSources,
  loadConfig,
  type Option,
  optionsOf,
} from '../config/index.ts';
import { readSecretFile } from './secretFile.ts';

const DEFAULT_FILE = 'floodgate.yaml';

const CONFIG_FILE = `configuration file (FLOODGATE_CONFIG; default ${DEFAULT_FILE}, if it exists)`;

const OPTIONS = optionsOf(ConfigSchema);

/** Adds `--config` and a flag for each option. */
export function addConfigFlags(command: Command, defaults: Readonly<Record<string, unknown>> = {}): Command {
  return addFlags(command, OPTIONS, defaults);
}

/** Adds the flags of all options, hidden from the help, for commands that inspect the configuration of `start`. */
export function addHiddenConfigFlags(command: Command): Command {
  command.option('--config <file>', CONFIG_FILE);
  for (const option of OPTIONS.filter(({ schema }) => !schema.fileOnly))
    command.addOption(flagOf(option, undefined).hideHelp());
  return command;
}

/** Adds `--config` and the flags of the given option paths. */
export function addOwnConfigFlags(command: Command, paths: readonly string[]): Command {
  return addFlags(
    command,
    OPTIONS.filter(({ path }) => paths.includes(path)),
  );
}

function addFlags(
  command: Command,
  options: readonly Option[],
  defaults: Readonly<Record<string, unknown>> = {},
): Command {
  command.option('--config <file>', CONFIG_FILE);
  for (const option of options.filter(({ schema }) => !schema.fileOnly))
    command.addOption(flagOf(option, defaults[option.path]));
  return command;
}

function flagOf(option: Option, otherDefault: unknown): Flag {
  const { schema, flag, variable, fileVariable, path } = option;
  const value = Type.IsBoolean(schema) ? '' : Type.IsArray(schema) ? ' <value...>' : ' <value>';
  const fallback = otherDefault ?? schema.default;
  const notes = [
    fileVariable === undefined ? variable : `${variable}, or a file named by ${fileVariable}`,
    path === flag.slice(2) ? '' : `in the file ${path}`,
    fallback === undefined || (Array.isArray(fallback) && fallback.length === 0) ? '' : `default ${fallback}`,
    `allowed: ${allowed(schema)}`,
  ];
  const made = new Flag(
    `${flag}${value}`,
    `${schema.description ?? ''} (${notes.filter(Boolean).join('; ')})`,
  );
  // loadConfig expects option paths as names; commander would convert them to camel case.
  made.attributeName = () => path;
  return made;
}

/** Returns the configuration from file, variables and flags; later sources win. Throws ConfigError. */
export function readConfig(command: Command, defaults: Readonly<Record<string, unknown>> = {}): Config {
  return loadConfig({ ...sourcesOf(command), defaults });
}

export function sourcesOf(command: Command): ConfigSources {
  const flags = command.opts<Record<string, string | string[] | boolean | undefined>>();
  const named = typeof flags['config'] === 'string' ? flags['config'] : process.env['FLOODGATE_CONFIG'];
  const file = readFile(named);
  return { ...(file && { file }), environment: process.env, readFile: readSecretFile, flags };
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
