import { MAX_HISTORY_ADDRESSES, MAX_HISTORY_LIMIT } from '../../traces/index.ts';
import { type JsonSchema, type Kind, objectSchema } from '../methods/kind.ts';
import { address, boolean, hexText, index, quantity } from '../methods/kinds.ts';
import { blockBound } from '../traceFilter/quantity.ts';
import { CALL_TYPES, DEFAULT_LIMIT, TYPES } from './params.ts';

type Member = Pick<Kind, 'allowed' | 'schema'>;

const some = (what: string, allowed: readonly string[]): Member => ({
  allowed: `${what}, of ${allowed.join(', ')}; left out: all`,
  schema: { type: 'array', minItems: 1, maxItems: allowed.length, items: { enum: allowed } },
});

const bounds = {
  fromBlock: {
    ...blockBound,
    allowed: 'the first block, by number or tag; left out: the lowest of the index',
  },
  toBlock: { ...blockBound, allowed: 'the last block, by number or tag; left out: latest' },
};

/** An object with known members, of which `address` must be there. */
const withAddress = (members: Readonly<Record<string, Member>>): JsonSchema => ({
  ...objectSchema(members),
  required: ['address'],
});

/** The parameter of floodgate_addressTraces. */
export const addressTracesSchema = withAddress({
  address: {
    allowed: `an address, or a list of 1 to ${MAX_HISTORY_ADDRESSES}: any of them`,
    schema: {
      anyOf: [
        address.schema,
        { type: 'array', minItems: 1, maxItems: MAX_HISTORY_ADDRESSES, items: address.schema },
      ],
    },
  },
  direction: {
    allowed: 'on which side the address stands; left out: either',
    schema: { enum: ['from', 'to', 'either'], default: 'either' },
  },
  ...bounds,
  order: {
    allowed: 'newest first (desc), or oldest first (asc); left out: desc',
    schema: { enum: ['desc', 'asc'], default: 'desc' },
  },
  types: some('the types of traces', TYPES),
  callTypes: some('the types of calls', CALL_TYPES),
  minValue: { ...quantity, allowed: 'the least that a trace moved, in wei; left out: 0' },
  internal: {
    ...boolean,
    allowed: 'true: only frames below the root of a transaction; false: only roots; left out: both',
  },
  failed: {
    ...boolean,
    allowed:
      'true: only frames that failed or stand inside one that did; false: only the others; left out: both',
  },
  limit: {
    ...index,
    allowed: `traces of a page, 1 to ${MAX_HISTORY_LIMIT}; left out: ${DEFAULT_LIMIT}`,
  },
  cursor: {
    allowed: 'the cursor of the page before, with all other members as they were, but for limit',
    schema: { type: 'string' },
  },
});

/** The parameter of floodgate_addressSummary. */
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

/** What floodgate_addressTraces answers. */
export const addressTracesResult = (traces: JsonSchema): JsonSchema =>
  whole({ traces, cursor: orNull({ type: 'string' }), range, missing });

const byType = whole(Object.fromEntries(TYPES.map((type) => [type, count])));
/** Figures, and for which range they are exact; that is null for no block. */
const figures = (members: Readonly<Record<string, JsonSchema>>): JsonSchema =>
  whole({ ...members, partial: { type: 'boolean' }, range: orNull(range) });

/** Wei, also the sum of many values. */
const wei = hexText('+');

/** What floodgate_addressSummary answers. */
export const addressSummaryResult: JsonSchema = whole({
  range,
  firstBlock: orNull(count),
  lastBlock: orNull(count),
  counts: figures({ from: byType, to: byType }),
  value: figures({ in: wei, out: wei }),
  missing,
});
