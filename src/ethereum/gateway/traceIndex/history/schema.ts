import { MAX_HISTORY_ADDRESSES, MAX_HISTORY_LIMIT } from '../../../traces/index.ts';
import { type JsonSchema, objectSchema, type ParamType } from '../../methods/paramType.ts';
import { address, boolean, hexText, index, quantity } from '../../methods/paramTypes.ts';
import { blockBound } from '../traceFilter/quantity.ts';
import { CALL_TYPES, DEFAULT_LIMIT, TYPES } from './params.ts';

type Member = Pick<ParamType, 'allowed' | 'schema'>;

const some = (what: string, allowed: readonly string[]): Member => ({
  allowed: `${what}, of ${allowed.join(', ')}; default: all`,
  schema: { type: 'array', minItems: 1, maxItems: allowed.length, items: { enum: allowed } },
});

const bounds = {
  fromBlock: {
    ...blockBound,
    allowed: 'the first block, by number or tag; default: the lowest of the index',
  },
  toBlock: { ...blockBound, allowed: 'the last block, by number or tag; default: latest' },
};

const withAddress = (members: Readonly<Record<string, Member>>): JsonSchema => ({
  ...objectSchema(members),
  required: ['address'],
});

export const addressTracesSchema = withAddress({
  address: {
    allowed: `an address, or a list of 1 to ${MAX_HISTORY_ADDRESSES} addresses; any of them matches`,
    schema: {
      anyOf: [
        address.schema,
        { type: 'array', minItems: 1, maxItems: MAX_HISTORY_ADDRESSES, items: address.schema },
      ],
    },
  },
  direction: {
    allowed: 'the side on which the address appears; default: either',
    schema: { enum: ['from', 'to', 'either'], default: 'either' },
  },
  ...bounds,
  order: {
    allowed: 'newest first (desc), or oldest first (asc); default: desc',
    schema: { enum: ['desc', 'asc'], default: 'desc' },
  },
  types: some('the types of traces', TYPES),
  callTypes: some('the types of calls', CALL_TYPES),
  minValue: { ...quantity, allowed: 'the minimum value of a trace, in wei; default: 0' },
  internal: {
    ...boolean,
    allowed: 'true: only frames below the root of a transaction; false: only roots; default: both',
  },
  failed: {
    ...boolean,
    allowed: 'true: only failed frames and frames inside them; false: only the others; default: both',
  },
  limit: {
    ...index,
    allowed: `traces per page, 1 to ${MAX_HISTORY_LIMIT}; default: ${DEFAULT_LIMIT}`,
  },
  cursor: {
    allowed: 'the cursor of the previous page; all other members except limit must be unchanged',
    schema: { type: 'string' },
  },
});

export const addressSummarySchema = withAddress({ address, ...bounds });

const count: JsonSchema = { type: 'integer', minimum: 0 };
const orNull = (schema: JsonSchema): JsonSchema => ({ anyOf: [schema, { type: 'null' }] });
const whole = (properties: Readonly<Record<string, JsonSchema>>): JsonSchema => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
});

const range = whole({ fromBlock: count, toBlock: count });
const missing = {
  type: 'array',
  items: { type: 'array', minItems: 2, maxItems: 2, items: count },
};

export const addressTracesResult = (traces: JsonSchema): JsonSchema =>
  whole({ traces, cursor: orNull({ type: 'string' }), range, missing });

const byType = whole(Object.fromEntries(TYPES.map((type) => [type, count])));
/** JSON Schema of totals and the block range for which they are exact. The range is null if it contains no blocks. */
const figures = (members: Readonly<Record<string, JsonSchema>>): JsonSchema =>
  whole({ ...members, partial: { type: 'boolean' }, range: orNull(range) });

/** JSON Schema of an amount in wei. Sums may exceed 256 bits, so the number of digits is not limited. */
const wei = hexText('+');

export const addressSummaryResult: JsonSchema = whole({
  range,
  firstBlock: orNull(count),
  lastBlock: orNull(count),
  counts: figures({ from: byType, to: byType }),
  value: figures({ in: wei, out: wei }),
  missing,
});
