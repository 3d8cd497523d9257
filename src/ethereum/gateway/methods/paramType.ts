import { RpcError } from '../../jsonrpc/index.ts';

export type JsonSchema = Readonly<Record<string, unknown>>;

/** Type of a parameter. Converts a value to its canonical form, which is sent to nodes and used in cache keys. */
export interface ParamType {
  /** JSON Schema of the allowed values. Absent if a schema would be less precise than the text in `allowed`. */
  readonly schema?: JsonSchema;
  /** Description of the allowed values. Error messages print it after "must be". */
  readonly allowed: string;
  /** Returns the value in canonical form. If it is invalid, throws RpcError with `path`, value and `allowed`. */
  read(value: unknown, path: string): unknown;
}

const MAX_SHOWN_LENGTH = 40;

export function rejectParam(path: string, allowed: string, value: unknown): never {
  throw new RpcError('invalidParams', `${path} must be ${allowed}; it is ${shown(value)}`);
}

/** Describes a value for an error message. Objects are not converted to JSON, because they may be nested too deeply. */
function shown(value: unknown): string {
  if (value === undefined) return 'missing';
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === 'object' && value !== null) return 'an object';
  const text = JSON.stringify(typeof value === 'string' ? value.slice(0, MAX_SHOWN_LENGTH + 1) : value);
  return text.length > MAX_SHOWN_LENGTH ? `${text.slice(0, MAX_SHOWN_LENGTH)}…` : text;
}

/** Returns a parameter type. `canonical` returns the canonical form of a value, or undefined for an invalid value. */
export function paramType(
  allowed: string,
  canonical: (value: unknown) => unknown,
  schema: JsonSchema = {},
): ParamType {
  return {
    allowed,
    schema,
    read(value, path) {
      const read = canonical(value);
      return read === undefined ? rejectParam(path, allowed, value) : read;
    },
  };
}

export function listOf(item: ParamType, max: number): ParamType {
  const allowed = `a list of at most ${max}, each ${item.allowed}`;
  return {
    allowed,
    schema: { type: 'array', maxItems: max, items: item.schema ?? {} },
    read(value, path) {
      if (!Array.isArray(value) || value.length > max) return rejectParam(path, allowed, value);
      return value.map((member, i) => item.read(member, `${path}[${i}]`));
    },
  };
}

/** Type of a list from which duplicates are removed. `max` limits the number of items, including duplicates. */
export function setOf(item: ParamType, max: number): ParamType {
  const list = listOf(item, max);
  return { ...list, read: (value, path) => [...new Set(list.read(value, path) as unknown[])] }; // a list type returns a list
}

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const objectSchema = (
  members: Readonly<Record<string, Pick<ParamType, 'allowed' | 'schema'>>>,
): JsonSchema => ({
  type: 'object',
  properties: Object.fromEntries(
    Object.entries(members).map(([name, { schema = {}, allowed }]) => [
      name,
      { ...schema, description: allowed },
    ]),
  ),
  additionalProperties: false,
});

const IGNORED = { allowed: 'any value; ignored' };

/** Maximum number of unknown object members that an error message names. */
const MAX_NAMED_MEMBERS = 5;

/**
 * Type of an object. All members are optional; null counts as absent. The canonical form lacks the `ignored` members.
 * Other members are errors.
 */
export function objectOf(
  allowed: string,
  members: Readonly<Record<string, ParamType>>,
  ignored: readonly string[] = [],
): ParamType {
  const known = new Map(Object.entries(members));
  return {
    allowed,
    schema: objectSchema({ ...members, ...Object.fromEntries(ignored.map((name) => [name, IGNORED])) }),
    read(value, path) {
      if (!isObject(value)) return rejectParam(path, allowed, value);
      const read: Record<string, unknown> = {};
      const unknown: string[] = [];
      for (const [name, member] of Object.entries(value)) {
        const memberKind = known.get(name);
        if (ignored.includes(name)) continue;
        if (memberKind === undefined) unknown.push(JSON.stringify(name.slice(0, MAX_SHOWN_LENGTH)));
        else if (member !== null) read[name] = memberKind.read(member, `${path}.${name}`);
      }
      if (unknown.length === 0) return read;
      const more =
        unknown.length > MAX_NAMED_MEMBERS ? ` and ${unknown.length - MAX_NAMED_MEMBERS} more` : '';
      throw new RpcError(
        'invalidParams',
        `${path} has unknown members: ${unknown.slice(0, MAX_NAMED_MEMBERS).join(', ')}${more}; known are ${[...known.keys()].join(', ')}`,
      );
    },
  };
}
