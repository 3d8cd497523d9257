import { existsSync, statSync } from 'node:fs';
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

/**
 * Returns the configuration after a change of `file`, the configuration file that was in use. Throws ConfigError, also
 * if this file is empty or missing, or if it is a pipe, which can be read only once.
 */
export function readConfigAgain(command: Command, file: string | undefined): Config {
  const isReadOnce = (name: string): boolean =>
    name === '-' || statSync(name, { throwIfNoEntry: false })?.isFile() === false;
  if (file !== undefined && isReadOnce(file))
    throw new ConfigError(`the configuration file ${file} cannot be read again: it is not a regular file`);
  const sources = sourcesOf(command, file);
  if (sources.file?.text.trim() === '') throw new ConfigError(`the configuration file ${file} is empty`);
  return loadConfig(sources);
}

export function sourcesOf(command: Command, file = configFileOf(command)): ConfigSources {
  return {
    ...(file !== undefined && { file: readFile(file) }),
    environment: process.env,
    readFile: readSecretFile,
    flags: flagsOf(command),
  };
}

/** Returns the path of the configuration file; undefined if there is none. */
export function configFileOf(command: Command): string | undefined {
  const { config } = flagsOf(command);
  const named = typeof config === 'string' ? config : process.env['FLOODGATE_CONFIG'];
  return named ?? (existsSync(DEFAULT_FILE) ? DEFAULT_FILE : undefined);
}

const flagsOf = (command: Command): ConfigSources['flags'] => command.opts();

function readFile(name: string): { name: string; text: string } {
  try {
    return { name, text: readText(name) };
  } catch (error) {
    throw new ConfigError(
      `the configuration file ${name} cannot be read: ${error instanceof Error ? error.message : error}`,
    );
  }
}
