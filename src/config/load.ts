import { Type } from 'typebox';
import { Value } from 'typebox/value';
import { parseYaml } from '../platform/nesting/index.ts';
import { allowed } from './allowed.ts';
import { ConfigError } from './configError.ts';
import { mostSimilar } from './mostSimilar.ts';
import { type Option, optionsOf } from './option.ts';
import { type Config, ConfigSchema } from './schema.ts';
import { isSetByKubernetes } from './unknownVariables.ts';

/** Flags override variables, and variables override the file. */
export interface ConfigSources {
  readonly file?: { readonly name: string; readonly text: string };
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Reads a file named by a variable such as FLOODGATE_API_TOKEN_FILE. */
  readonly readFile?: (name: string) => string;
  /** Values of flags by option path: an array for a list, true for a flag without a value, otherwise a string. */
  readonly flags: Readonly<Record<string, string | readonly string[] | boolean | undefined>>;
  /** Overrides of the schema's defaults, by option path. */
  readonly defaults?: Readonly<Record<string, unknown>>;
}

const OPTIONS = optionsOf(ConfigSchema);

type Tree = Record<string, unknown>;

/** Returns the complete configuration. Throws ConfigError for the first invalid option. */
export function loadConfig(sources: ConfigSources): Config {
  return Value.Clean(ConfigSchema, gather(sources).tree) as Config; // `check` validated each leaf
}

/** An option's value, and the file, variable or flag that set it; `from` is undefined for a default. */
export interface EffectiveOption {
  readonly option: Option;
  readonly value: unknown;
  readonly from?: string;
}

/** Returns all options with their effective values. Throws ConfigError like `loadConfig`. */
export function effectiveOptions(sources: ConfigSources): EffectiveOption[] {
  const { tree, origins } = gather(sources);
  return OPTIONS.map((option) => {
    const from = origins.get(option.path);
    return { option, value: valueAt(tree, option.path), ...(from !== undefined && { from }) };
  });
}

interface Gathered {
  readonly tree: Tree;
  /** Source of each option that is set (file, variable or flag), by option path. */
  readonly origins: Map<string, string>;
}

function gather(sources: ConfigSources): Gathered {
  const gathered: Gathered = { tree: {}, origins: new Map() };
  const { tree, origins } = gathered;
  for (const option of OPTIONS)
    set(tree, option.path, sources.defaults?.[option.path] ?? option.schema.default);
  if (sources.file !== undefined) mergeFile(gathered, sources.file);
  for (const option of OPTIONS) {
    if (option.schema.fileOnly) continue;
    for (const { text, from } of optionValues(option, sources)) {
      set(tree, option.path, parseText(option, text, from));
      origins.set(option.path, from);
    }
  }
  return gathered;
}

interface OptionValue {
  readonly text: string | readonly string[] | boolean;
  readonly from: string;
}

/** Yields an option's values from its variables and its flag, in rising precedence. */
function* optionValues(
  option: Option,
  { environment, readFile, flags }: ConfigSources,
): Generator<OptionValue> {
  const { variable, fileVariable = '', flag, path, schema } = option;
  const { standardVariable = '' } = schema;
  const standard = environment[standardVariable] ?? '';
  if (standard !== '') yield { text: standard, from: standardVariable };
  const text = environment[variable];
  const isSet = text !== undefined && text !== '' && !isSetByKubernetes(variable, text);
  const file = environment[fileVariable] ?? '';
  if (isSet && file !== '')
    throw new ConfigError(`${variable} and ${fileVariable} are both set: set one of them`);
  if (isSet) yield { text, from: variable };
  if (file !== '' && readFile !== undefined)
    yield { text: textOf(option, readFile(file), fileVariable), from: fileVariable };
  const flagged = flags[path];
  if (flagged !== undefined) yield { text: flagged, from: flag };
}

/** Returns the trimmed text of a file. If the option is a list, line breaks separate its items, as commas do. */
function textOf({ schema }: Option, content: string, from: string): string {
  const text = content.trim();
  if (text === '') throw new ConfigError(`the file named by ${from} is empty`);
  return Type.IsArray(schema) ? text.split(/\s*\n\s*/).join(',') : text;
}

function mergeFile(gathered: Gathered, file: { name: string; text: string }): void {
  const content = parseFile(file);
  if (content === null || content === undefined) return;
  if (!isTree(content)) throw new ConfigError(`${file.name}: expected options by name, like "port: 8420"`);
  mergeMembers(gathered, content, { prefix: '', fileName: file.name });
}

function parseFile(file: { name: string; text: string }): unknown {
  try {
    const { document } = parseYaml(file.text);
    const [fault] = [...document.errors, ...document.warnings];
    if (fault !== undefined) throw fault;
    return document.toJS();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ConfigError(`${file.name} is not valid YAML: ${reason}`);
  }
}

interface Members {
  /** Path of an option group with a trailing dot, or empty. */
  readonly prefix: string;
  readonly fileName: string;
}

function mergeMembers(gathered: Gathered, content: Tree, { prefix, fileName }: Members): void {
  for (const [key, value] of Object.entries(content)) {
    const path = `${prefix}${key}`;
    const option = OPTIONS.find((known) => known.path === path);
    if (option !== undefined) {
      set(gathered.tree, path, check(option, value, `${path} in ${fileName}`));
      gathered.origins.set(path, fileName);
    } else if (OPTIONS.some((known) => known.path.startsWith(`${path}.`))) {
      if (!isTree(value)) throw new ConfigError(`${path} in ${fileName}: expected options by name below it`);
      mergeMembers(gathered, value, { prefix: `${path}.`, fileName });
    } else {
      const paths = OPTIONS.map((known) => known.path);
      const below = paths.filter((known) => known.startsWith(prefix));
      const members = new Set(below.map((known) => prefix + known.slice(prefix.length).split('.', 1)[0]));
      throw new ConfigError(
        `${path} in ${fileName}: unknown option; the most similar option is ${mostSimilar(path, paths)}; allowed: ${[...members].join(', ')}`,
      );
    }
  }
}

function parseText(option: Option, text: string | readonly string[] | boolean, source: string): unknown {
  const { schema } = option;
  if (Array.isArray(text)) refuseJoinedItems(option, text, source);
  if (typeof text !== 'string') return check(option, text, source);
  if (Type.IsArray(schema))
    return check(
      option,
      text.split(',').map((item) => item.trim()),
      source,
    );
  if (Type.IsInteger(schema)) return check(option, /^-?\d+$/.test(text) ? Number(text) : text, source);
  if (Type.IsNumber(schema)) return check(option, /^\d+(\.\d+)?$/.test(text) ? Number(text) : text, source);
  if (Type.IsBoolean(schema)) return check(option, { true: true, false: false }[text] ?? text, source);
  const isNumber = /^\d+$/.test(text) && Value.Check(schema, Number(text));
  return check(option, isNumber ? Number(text) : text, source);
}

/**
 * Rejects values of a flag that are several valid items joined by commas, as in a variable. A comma in a URL or in the
 * name of a file is allowed.
 */
function refuseJoinedItems(option: Option, values: readonly string[], flag: string): void {
  if (!Type.IsArray(option.schema)) return;
  const { items } = option.schema;
  for (const [index, value] of values.entries()) {
    const parts = value.split(',').map((part) => part.trim());
    if (parts.length > 1 && parts.every((part) => part === '' || Value.Check(items, part)))
      throw new ConfigError(
        `${flag}, item ${index + 1}, is ${shown(option, value)}, with a comma between items; allowed: items separated by blanks, or one item in each ${flag}`,
      );
  }
}

function check(option: Option, value: unknown, source: string): unknown {
  if (Value.Check(option.schema, value)) return value;
  const { at, value: wrong } = wrongPart(option, value);
  throw new ConfigError(`${source}${at} is ${shown(option, wrong)}; allowed: ${allowed(option.schema)}`);
}

function shown({ schema: { secret, isAddress } }: Option, value: unknown): string {
  return secret ? '(not shown)' : shorten(JSON.stringify(isAddress ? withoutSecrets(value) : value));
}

/** Returns the first wrong item of a list or the first wrong member of an object, or the whole value. */
function wrongPart({ schema }: Option, value: unknown): { readonly at: string; readonly value: unknown } {
  const paths = Value.Errors(schema, value).map(({ instancePath }) => instancePath.split('/').slice(1));
  const [first = [], ...others] = paths;
  // The errors of a member and of the objects that contain it are listed together; the longest path is the member's.
  const path = others.reduce(
    (best, one) => (one.length > best.length && one[0] === first[0] ? one : best),
    first,
  );
  const [index = ''] = path;
  if (Array.isArray(value) && index !== '')
    return { at: `, item ${Number(index) + 1},`, value: value[Number(index)] };
  return path.length === 0 ? { at: '', value } : { at: `, ${path.join(' / ')},`, value };
}

/** Hides each address that contains more than scheme, host and port. */
function withoutSecrets(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutSecrets);
  if (isTree(value))
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withoutSecrets(member)]));
  return typeof value === 'string' && !/^(https?:\/\/)?[\w.:-]*$/.test(value) ? '(not shown)' : value;
}

const MAX_SHOWN_LENGTH = 120;

const shorten = (text: string | undefined): string =>
  text === undefined
    ? 'nothing'
    : text.length > MAX_SHOWN_LENGTH
      ? `${text.slice(0, MAX_SHOWN_LENGTH)}…`
      : text;

function set(tree: Tree, path: string, value: unknown): void {
  const keys = path.split('.');
  let node = tree;
  for (const key of keys.slice(0, -1)) {
    if (!isTree(node[key])) node[key] = {};
    node = node[key] as Tree; // created on the line above
  }
  const last = keys.at(-1) ?? path;
  if (value === undefined) delete node[last];
  else node[last] = value;
}

function valueAt(tree: Tree, path: string): unknown {
  return path.split('.').reduce<unknown>((node, key) => (isTree(node) ? node[key] : undefined), tree);
}

const isTree = (value: unknown): value is Tree =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
