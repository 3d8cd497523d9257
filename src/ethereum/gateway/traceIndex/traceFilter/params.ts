import { overLimit, RpcError } from '../../../jsonrpc/index.ts';
import type { Address, FilterMode, Hash } from '../../../traces/index.ts';
import type { CallLimits } from '../../callLimits.ts';
import { objectSchema, type ParamType } from '../../methods/paramType.ts';
import { address, hash, index } from '../../methods/paramTypes.ts';
import type { BlockBound } from './blockTag.ts';
import { blockBound, readBlockBound, readQuantity } from './quantity.ts';
import { quoted } from './quoted.ts';

/** Parameters of trace_filter after validation, except for the checks that need the current head. */
export interface TraceFilterParams {
  readonly from: BlockBound;
  readonly to: BlockBound;
  /** Hash of a block, if the filter selects a single block by its hash instead of a range. */
  readonly blockHash: Hash | undefined;
  readonly fromAddresses: readonly Address[];
  readonly toAddresses: readonly Address[];
  readonly mode: FilterMode;
  readonly after: number;
  /** Maximum number of traces to return. Default: all matching traces. */
  readonly count: number | undefined;
}

/** Maximum number of addresses in `fromAddress`, and in `toAddress` (docs/internals/decisions/gateway.md). */
const MAX_ADDRESSES = 1000;

/** Maximum number of unknown members that an error message names, and maximum length of each name. */
const MAX_NAMED_MEMBERS = 5;
const MAX_NAME_LENGTH = 40;

const addresses = (whose: string): Pick<ParamType, 'allowed' | 'schema'> => ({
  allowed: `${whose}: an address, or a list of at most ${MAX_ADDRESSES} addresses; any of them matches; default, and for an empty list: all`,
  schema: { anyOf: [address.schema, { type: 'array', maxItems: MAX_ADDRESSES, items: address.schema }] },
});

const DESCRIBED = {
  fromBlock: { ...blockBound, allowed: 'the first block, by number or tag; default: latest' },
  toBlock: { ...blockBound, allowed: 'the last block, by number or tag; default: latest' },
  blockHash: { ...hash, allowed: 'the only block, by its hash, instead of fromBlock and toBlock' },
  fromAddress: addresses('senders'),
  toAddress: addresses('recipients'),
  mode: {
    allowed: 'whether both sides must match (intersection), or either (union)',
    schema: { enum: ['intersection', 'union'], default: 'intersection' },
  },
  after: { ...index, allowed: 'matching traces to skip; default: 0' },
  count: {
    ...index,
    allowed: 'maximum number of traces to return; default: all, an error if more match than the limit allows',
  },
} as const satisfies Readonly<Record<string, Pick<ParamType, 'allowed' | 'schema'>>>;
const MEMBERS = Object.keys(DESCRIBED);

/** Parameter of trace_filter. Checks names and types of the members; `checkTraceFilter` checks the limits. */
export const traceFilterObject: ParamType = {
  allowed: 'a filter object, for example {"fromBlock":"0x1"}',
  schema: objectSchema(DESCRIBED),
  read: (value, path) => readFilter(readFilterObject(value, path)),
};

function readFilter(filter: Readonly<Record<string, unknown>>): TraceFilterParams {
  const read: TraceFilterParams = {
    from: readBlockBound('fromBlock', filter['fromBlock']),
    to: readBlockBound('toBlock', filter['toBlock']),
    blockHash: readBlockHash(filter['blockHash']),
    fromAddresses: readAddresses('fromAddress', filter['fromAddress']),
    toAddresses: readAddresses('toAddress', filter['toAddress']),
    mode: readMode(filter['mode']),
    after: readQuantity('after', filter['after']) ?? 0,
    count: readQuantity('count', filter['count']),
  };
  if (read.blockHash !== undefined) checkNoBounds(filter);
  for (const member of ['fromAddress', 'toAddress']) checkLength(member, filter[member]);
  return read;
}

/** Throws RpcError if a filter exceeds a limit. The number of blocks is checked here only if both bounds are numbers. */
export function checkTraceFilter({ from, to, count = 0 }: TraceFilterParams, limits: CallLimits): void {
  const { traceFilterBlocks, traceFilterCount } = limits;
  if (count > traceFilterCount) throw overLimit('count', traceFilterCount, count);
  if (typeof from !== 'number' || typeof to !== 'number') return;
  checkWidth(from, to, traceFilterBlocks);
  checkOrder(from, to);
}

function readBlockHash(value: unknown): Hash | undefined {
  if (value === undefined || value === null) return undefined;
  return hash.read(value, 'blockHash') as Hash; // validated by the parameter type `hash`
}

function checkNoBounds(filter: Readonly<Record<string, unknown>>): void {
  const bound = ['fromBlock', 'toBlock'].find((member) => (filter[member] ?? null) !== null);
  if (bound === undefined) return;
  throw new RpcError('invalidParams', `blockHash and ${bound} are mutually exclusive: omit one of them`);
}

/** Checks the number of addresses in a list. Duplicates count, because they cost work as well. */
function checkLength(member: string, value: unknown): void {
  if (Array.isArray(value) && value.length > MAX_ADDRESSES)
    throw overLimit(`addresses in ${member}`, MAX_ADDRESSES, value.length);
}

export function checkOrder(fromBlock: number, toBlock: number): void {
  if (fromBlock <= toBlock) return;
  throw new RpcError(
    'invalidParams',
    `fromBlock ${fromBlock} is after toBlock ${toBlock} (default of both: latest)`,
  );
}

/** Throws RpcError if a range is too wide. The first and the last block count. */
export function checkWidth(fromBlock: number, toBlock: number, maxBlocks: number): void {
  const blocks = toBlock - fromBlock + 1;
  if (blocks > maxBlocks) throw overLimit('blocks from fromBlock to toBlock', maxBlocks, blocks);
}

export const NO_FILTER: TraceFilterParams = readFilter({});

function readFilterObject(filter: unknown, path: string): Readonly<Record<string, unknown>> {
  if (typeof filter !== 'object' || filter === null || Array.isArray(filter))
    throw new RpcError(
      'invalidParams',
      `${path} is ${quoted(filter)}; it must be ${traceFilterObject.allowed}`,
    );
  const unknown = Object.keys(filter).filter((name) => !MEMBERS.includes(name));
  if (unknown.length > 0) throw unknownMembers('the filter', unknown, MEMBERS);
  return filter as Record<string, unknown>; // an object of parsed JSON
}

/** Returns the error for unknown members. The error names some of them, up to a limited length. */
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
    if (typeof item === 'string' && ADDRESS.test(item)) return item.toLowerCase() as Address; // matches ADDRESS
    const name = Array.isArray(value) ? `${member}[${i}]` : member;
    throw new RpcError(
      'invalidParams',
      `${name} is ${quoted(item)}; it must be an address: 0x and 40 hex digits`,
    );
  });
  return [...new Set(addresses)];
}
