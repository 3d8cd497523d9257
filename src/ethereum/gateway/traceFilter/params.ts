import { overLimit, RpcError } from '../../jsonrpc/index.ts';
import { type Address, type FilterMode, MAX_COUNT, MAX_RANGE_BLOCKS } from '../../traces/index.ts';
import { type Kind, objectSchema } from '../methods/kind.ts';
import { address, index } from '../methods/kinds.ts';
import type { BlockBound } from './blockTag.ts';
import { blockBound, readBlockBound, readQuantity } from './quantity.ts';
import { quoted } from './quoted.ts';

/** The parameters of trace_filter, checked as far as that goes without knowing the head. */
export interface TraceFilterParams {
  readonly from: BlockBound;
  readonly to: BlockBound;
  readonly fromAddresses: readonly Address[];
  readonly toAddresses: readonly Address[];
  readonly mode: FilterMode;
  readonly after: number;
  readonly count: number;
}

/** Addresses in a list (docs/decisions/gateway.md). */
const MAX_ADDRESSES = 1000;

/** Unknown members are named in an error, up to so many, each cut to so many characters. */
const MAX_NAMED_MEMBERS = 5;
const MAX_NAME_LENGTH = 40;

const addresses = (whose: string): Pick<Kind, 'allowed' | 'schema'> => ({
  allowed: `${whose}: an address, or a list of at most ${MAX_ADDRESSES} of which any matches; left out or empty: everybody`,
  schema: { anyOf: [address.schema, { type: 'array', maxItems: MAX_ADDRESSES, items: address.schema }] },
});

const DESCRIBED = {
  fromBlock: { ...blockBound, allowed: 'the first block, by number or tag; left out: latest' },
  toBlock: {
    ...blockBound,
    allowed: `the last block, by number or tag, of at most ${MAX_RANGE_BLOCKS}; left out: latest`,
  },
  fromAddress: addresses('senders'),
  toAddress: addresses('recipients'),
  mode: {
    allowed: 'whether both sides must match (intersection), or either (union)',
    schema: { enum: ['intersection', 'union'], default: 'intersection' },
  },
  after: { ...index, allowed: 'matching traces to skip; left out: 0' },
  count: { ...index, allowed: `traces to return, at most ${MAX_COUNT}; left out: ${MAX_COUNT}` },
} as const satisfies Readonly<Record<string, Pick<Kind, 'allowed' | 'schema'>>>;
const MEMBERS = Object.keys(DESCRIBED);

/**
 * The parameter of trace_filter. Members and types are checked first, then limits: a range given in numbers is refused for
 * its width whatever the head is.
 */
export const traceFilterObject: Kind = {
  allowed: 'a filter object, for example {"fromBlock":"0x1"}',
  schema: objectSchema(DESCRIBED),
  read: (value, path) => readFilter(readFilterObject(value, path)),
};

function readFilter(filter: Readonly<Record<string, unknown>>): TraceFilterParams {
  const read: TraceFilterParams = {
    from: readBlockBound('fromBlock', filter['fromBlock']),
    to: readBlockBound('toBlock', filter['toBlock']),
    fromAddresses: readAddresses('fromAddress', filter['fromAddress']),
    toAddresses: readAddresses('toAddress', filter['toAddress']),
    mode: readMode(filter['mode']),
    after: readQuantity('after', filter['after']) ?? 0,
    count: readQuantity('count', filter['count']) ?? MAX_COUNT,
  };
  if (read.count > MAX_COUNT) throw overLimit('count', MAX_COUNT, read.count);
  for (const member of ['fromAddress', 'toAddress']) checkLength(member, filter[member]);
  if (typeof read.from === 'number' && typeof read.to === 'number') {
    checkWidth(read.from, read.to);
    checkOrder(read.from, read.to);
  }
  return read;
}

/** Addresses are counted as they were sent: one that is sent twice is work twice. */
function checkLength(member: string, value: unknown): void {
  if (Array.isArray(value) && value.length > MAX_ADDRESSES)
    throw overLimit(`addresses in ${member}`, MAX_ADDRESSES, value.length);
}

/** Refuses a range that is reversed. */
export function checkOrder(fromBlock: number, toBlock: number): void {
  if (fromBlock <= toBlock) return;
  throw new RpcError(
    'invalidParams',
    `fromBlock ${fromBlock} is after toBlock ${toBlock}; it must not be (a bound that is left out is latest)`,
  );
}

/** Refuses a range that is too wide; both ends are counted. */
export function checkWidth(fromBlock: number, toBlock: number): void {
  const blocks = toBlock - fromBlock + 1;
  if (blocks > MAX_RANGE_BLOCKS)
    throw overLimit('blocks from fromBlock to toBlock', MAX_RANGE_BLOCKS, blocks);
}

/** What a filter is that is left out. */
export const NO_FILTER: TraceFilterParams = readFilter({});

function readFilterObject(filter: unknown, path: string): Readonly<Record<string, unknown>> {
  if (typeof filter !== 'object' || filter === null || Array.isArray(filter))
    throw new RpcError(
      'invalidParams',
      `${path} is ${quoted(filter)}; it must be ${traceFilterObject.allowed}`,
    );
  const unknown = Object.keys(filter).filter((name) => !MEMBERS.includes(name));
  if (unknown.length > 0) throw unknownMembers('the filter', unknown, MEMBERS);
  return filter as Record<string, unknown>; // a JSON object
}

/** Members that nobody knows. They are named as far as that is not long. */
export function unknownMembers(what: string, names: readonly string[], known: readonly string[]): RpcError {
  const shown = names
    .slice(0, MAX_NAMED_MEMBERS)
    .map((name) => JSON.stringify(name.slice(0, MAX_NAME_LENGTH)));
  const more = names.length > MAX_NAMED_MEMBERS ? ` and ${names.length - MAX_NAMED_MEMBERS} more` : '';
  return new RpcError(
    'invalidParams',
    `${what} has unknown members: ${shown.join(', ')}${more}; known are ${known.join(', ')}`,
  );
}

function readMode(value: unknown): FilterMode {
  if (value === undefined || value === null) return 'intersection';
  if (value === 'intersection' || value === 'union') return value;
  throw new RpcError('invalidParams', `mode is ${quoted(value)}; it must be "intersection" or "union"`);
}

const ADDRESS = /^0x[0-9a-f]{40}$/i;

function readAddresses(member: string, value: unknown): readonly Address[] {
  if (value === undefined || value === null) return [];
  const list = Array.isArray(value) ? value : [value];
  const addresses = list.map((item: unknown, i): Address => {
    if (typeof item === 'string' && ADDRESS.test(item)) return item.toLowerCase() as Address; // just tested
    const name = Array.isArray(value) ? `${member}[${i}]` : member;
    throw new RpcError(
      'invalidParams',
      `${name} is ${quoted(item)}; it must be an address: 0x and 40 hex digits`,
    );
  });
  return [...new Set(addresses)];
}
