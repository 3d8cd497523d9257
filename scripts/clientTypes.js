// Generates the types of `floodgate/client` from the OpenRPC document, so that parameters and results match the
// server's method table. `npm run docs` writes them, and a test compares.
import { spawnSync } from 'node:child_process';
import { root } from './compile.js';

/** The methods that the client calls, with the names of their parameter and result types. */
const CALLED = {
  trace_filter: { params: 'TraceFilterParams' },
  floodgate_addressTraces: { params: 'AddressTracesParams', result: 'AddressTracesPage' },
  floodgate_addressSummary: { params: 'AddressSummaryParams', result: 'AddressSummary' },
};

const HEAD = `// Generated from the method table by \`npm run docs\`. Edit src/ethereum/gateway/methods instead of this file.

/** Bytes, an address, a hash or a number as \`0x\` and hex digits. */
export type Hex = \`0x\${string}\`;

/** A number in a request. */
export type Quantity = Hex | number | bigint;
`;

/** Returns the source text of the types, formatted. */
export function clientTypes({ methods, components }) {
  const parts = [HEAD];
  for (const [name, names] of Object.entries(CALLED)) {
    const { summary, params, result } = methods.find((method) => method.name === name);
    const [{ schema }] = params;
    parts.push(`/** The parameter of \`${name}\`. ${summary} */`, declaration(names.params, schema, asked));
    if (names.result !== undefined)
      parts.push(`/** The result of \`${name}\`. */`, declaration(names.result, result.schema, answered));
  }
  const traces = components.schemas.Trace.oneOf.map((schema) => ({
    schema,
    type: schema.properties.type.const,
  }));
  for (const { schema, type } of traces)
    parts.push(`/** A trace of type \`${type}\`. */`, declaration(nameOf(type), schema, answered));
  parts.push(`/** A trace. */\nexport type Trace = ${traces.map(({ type }) => nameOf(type)).join(' | ')};\n`);
  return formatted(parts.join('\n'));
}

const nameOf = (type) => `${type[0].toUpperCase()}${type.slice(1)}Trace`;

/** Requests may contain numbers in several forms; results have one form. */
const asked = { isNumber: (of) => isHex(of[0]) && of[1]?.type === 'integer', number: 'Quantity' };
const answered = { isNumber: () => false };

const declaration = (name, schema, side) => `export interface ${name} ${object(schema, side)}\n`;

function object({ properties, required = [] }, side) {
  const members = Object.entries(properties).map(([name, schema]) => {
    const isRequired = required.includes(name);
    const about = schema.description === undefined ? '' : `/** ${sentence(schema.description)} */\n`;
    const type = typeOf(schema, side) + (isRequired ? '' : ' | undefined');
    return `${about}readonly ${name}${isRequired ? '' : '?'}: ${type};`;
  });
  return `{\n${members.join('\n')}\n}`;
}

function typeOf(schema, side) {
  const of = schema.oneOf ?? schema.anyOf;
  if (of !== undefined) return union(of, side);
  if (schema.$ref !== undefined) return schema.$ref.split('/').at(-1);
  if (schema.const !== undefined) return literal(schema.const);
  if (schema.enum !== undefined) return schema.enum.map(literal).join(' | ');
  if (isHex(schema)) return 'Hex';
  if (schema.type === 'array') return list(schema, side);
  if (schema.type === 'object') return object(schema, side);
  const known = { string: 'string', integer: 'number', boolean: 'boolean', null: 'null' }[schema.type];
  if (known === undefined) throw new Error(`no TypeScript type for ${JSON.stringify(schema)}`);
  return known;
}

/** A number is the last two alternatives of a union: hex and integer. */
function union(of, side) {
  const others = side.isNumber(of.slice(-2)) ? of.slice(0, -2) : of;
  const types = others.map((schema) => typeOf(schema, side));
  if (others !== of) types.push(side.number);
  return types.join(' | ');
}

function list({ items, minItems, maxItems }, side) {
  const item = typeOf(items, side);
  if (minItems === 2 && maxItems === 2) return `readonly [${item}, ${item}]`;
  return `readonly ${/[ {]/.test(item) ? `(${item})` : item}[]`;
}

const literal = (value) => JSON.stringify(value);
const isHex = ({ type, pattern }) => type === 'string' && pattern?.startsWith('^0x');
const sentence = (text) => `${text[0].toUpperCase()}${text.slice(1)}.`;

function formatted(text) {
  const biome = `${root}node_modules/@biomejs/biome/bin/biome`;
  const args = ['format', '--stdin-file-path', 'src/exports/client/types.ts'];
  const { status, stdout, stderr } = spawnSync(process.execPath, [biome, ...args], {
    cwd: root,
    input: text,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(stderr);
  return stdout;
}
