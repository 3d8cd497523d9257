import { existsSync } from 'node:fs';
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
import { addConfigHelp, USUAL } from './configHelp.ts';
import { readText } from './files/readTextFile.ts';
import { readSecretFile } from './files/secretFile.ts';

const DEFAULT_FILE = 'floodgate.yaml';

const CONFIG_FILE = `configuration file (FLOODGATE_CONFIG; default ${DEFAULT_FILE}, if it exists)`;

/** Options that have a flag. */
const FLAGGED = optionsOf(ConfigSchema).filter(({ schema }) => !schema.fileOnly);

/** Adds `--config`, a flag for each option, and the help of a command that starts a server. */
export function addConfigFlags(
  command: Command,
  {
    defaults = {},
    examples,
  }: { readonly defaults?: Readonly<Record<string, unknown>>; readonly examples: string },
): Command {
  command.option('--config <file>', CONFIG_FILE);
  const notes = new Map<Flag, string>();
  for (const option of FLAGGED) {
    const other = defaults[option.path];
    const flag = flagOf(option, option.schema.description ?? '');
    flag.hideHelp(!USUAL.includes(option.path));
    notes.set(flag, notesOf(option, other));
    command.addOption(flag);
  }
  return addConfigHelp(command, { notes, examples });
}

/** Adds the flags of all options, hidden from the help, for commands that inspect the configuration of `start`. */
export function addHiddenConfigFlags(command: Command): Command {
  command.option('--config <file>', CONFIG_FILE);
  for (const option of FLAGGED) command.addOption(flagOf(option, '').hideHelp());
  return command;
}

/** Adds `--config` and the flags of the given option paths. */
export function addOwnConfigFlags(command: Command, paths: readonly string[]): Command {
  return addFlags(
    command,
    FLAGGED.filter(({ path }) => paths.includes(path)),
  );
}

function addFlags(command: Command, options: readonly Option[]): Command {
  command.option('--config <file>', CONFIG_FILE);
  for (const option of options)
    command.addOption(flagOf(option, `${option.schema.description ?? ''} (${notesOf(option)})`));
  return command;
}

function flagOf({ schema, flag, path }: Option, description: string): Flag {
  const value = Type.IsBoolean(schema) ? '' : Type.IsArray(schema) ? ' <value...>' : ' <value>';
  const made = new Flag(`${flag}${value}`, description);
  // loadConfig expects option paths as names; commander would convert them to camel case.
  made.attributeName = () => path;
  return made;
}

/** Returns the variable of an option, its name in the file, its default and the allowed values. */
function notesOf({ schema, flag, variable, fileVariable, path }: Option, otherDefault?: unknown): string {
  const fallback = otherDefault ?? schema.default;
  const notes = [
    fileVariable === undefined ? variable : `${variable}, or a file named by ${fileVariable}`,
    path === flag.slice(2) ? '' : `in the file ${path}`,
    fallback === undefined || (Array.isArray(fallback) && fallback.length === 0) ? '' : `default ${fallback}`,
    `allowed: ${allowed(schema)}`,
  ];
  return notes.filter(Boolean).join('; ');
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
    return { name, text: readText(name) };
  } catch (error) {
    throw new ConfigError(
      `the configuration file ${name} cannot be read: ${error instanceof Error ? error.message : error}`,
    );
  }
}
