import { RpcError } from '../../jsonrpc/index.ts';

export type JsonSchema = Readonly<Record<string, unknown>>;

/** A kind of parameter: reads a client's value into its one canonical form, which nodes and the cache get to see. */
export interface Kind {
  /** What is allowed, as JSON Schema says it. Left out: it says less than the words. */
  readonly schema?: JsonSchema;
  /** What is allowed, in words that follow "must be". */
  readonly allowed: string;
  /** The canonical value. Throws RpcError naming `path`, what came and what is allowed. */
  read(value: unknown, path: string): unknown;
}

/** Of a client's value, what an error repeats. */
const MAX_SHOWN_LENGTH = 40;

export function refuse(path: string, allowed: string, value: unknown): never {
  throw new RpcError('invalidParams', `${path} must be ${allowed}; it is ${shown(value)}`);
}

/** A value in words that are short whatever the value is: an object may be nested too deep to be written out. */
function shown(value: unknown): string {
  if (value === undefined) return 'missing';
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === 'object' && value !== null) return 'an object';
  const text = JSON.stringify(typeof value === 'string' ? value.slice(0, MAX_SHOWN_LENGTH + 1) : value);
  return text.length > MAX_SHOWN_LENGTH ? `${text.slice(0, MAX_SHOWN_LENGTH)}…` : text;
}

/** A kind that is told by a test of the value and put into canonical form by `canonical`. */
export function kind(allowed: string, canonical: (value: unknown) => unknown, schema: JsonSchema = {}): Kind {
  return {
    allowed,
    schema,
    read(value, path) {
      const read = canonical(value);
      return read === undefined ? refuse(path, allowed, value) : read;
    },
  };
}

/** A list of at most `max`, each of one kind. */
export function listOf(item: Kind, max: number): Kind {
  const allowed = `a list of at most ${max}, each ${item.allowed}`;
  return {
    allowed,
    schema: { type: 'array', maxItems: max, items: item.schema ?? {} },
    read(value, path) {
      if (!Array.isArray(value) || value.length > max) return refuse(path, allowed, value);
      return value.map((member, i) => item.read(member, `${path}[${i}]`));
    },
  };
}

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The schema of an object with members of known kinds. */
export const objectSchema = (
  members: Readonly<Record<string, Pick<Kind, 'allowed' | 'schema'>>>,
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

/** Unknown members are named in an error, up to so many, each cut to so many characters. */
const MAX_NAMED_MEMBERS = 5;

/** An object with members of known kinds, all optional; null counts as left out. Unknown ones are refused by name. */
export function objectOf(allowed: string, members: Readonly<Record<string, Kind>>): Kind {
  const known = new Map(Object.entries(members));
  return {
    allowed,
    schema: objectSchema(members),
    read(value, path) {
      if (!isObject(value)) return refuse(path, allowed, value);
      const read: Record<string, unknown> = {};
      const unknown: string[] = [];
      for (const [name, member] of Object.entries(value)) {
        const memberKind = known.get(name);
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
