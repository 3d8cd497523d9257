import { overLimit, RpcError } from '../../jsonrpc/index.ts';
import { type Address, type FilterMode, MAX_COUNT, MAX_RANGE_BLOCKS } from '../../traces/index.ts';
import type { BlockBound } from './blockTag.ts';
import { readBlockBound, readQuantity } from './quantity.ts';
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

/** Addresses in a list (decisions.md B). */
const MAX_ADDRESSES = 1000;

const MEMBERS = ['fromBlock', 'toBlock', 'fromAddress', 'toAddress', 'mode', 'after', 'count'];

/** Unknown members are named in an error, up to so many, each cut to so many characters. */
const MAX_NAMED_MEMBERS = 5;
const MAX_NAME_LENGTH = 40;

/**
 * Reads the parameters of trace_filter (seed 4.4, decisions.md B). Members and types are checked first, then limits:
 * a range given in numbers is refused for its width whatever the head is. Throws RpcError.
 */
export function readTraceFilterParams(params: readonly unknown[]): TraceFilterParams {
  const filter = readFilterObject(params);
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

function readFilterObject(params: readonly unknown[]): Record<string, unknown> {
  const [filter = {}] = params;
  if (params.length > 1)
    throw new RpcError(
      'invalidParams',
      `params must have one element, the filter object; it has ${params.length}`,
    );
  if (typeof filter !== 'object' || filter === null || Array.isArray(filter))
    throw new RpcError(
      'invalidParams',
      `params[0] is ${quoted(filter)}; it must be a filter object, for example {"fromBlock":"0x1"}`,
    );
  const unknown = Object.keys(filter).filter((name) => !MEMBERS.includes(name));
  if (unknown.length > 0) throw unknownMembers(unknown);
  return filter as Record<string, unknown>; // a JSON object
}

function unknownMembers(names: readonly string[]): RpcError {
  const shown = names
    .slice(0, MAX_NAMED_MEMBERS)
    .map((name) => JSON.stringify(name.slice(0, MAX_NAME_LENGTH)));
  const more = names.length > MAX_NAMED_MEMBERS ? ` and ${names.length - MAX_NAMED_MEMBERS} more` : '';
  return new RpcError(
    'invalidParams',
    `the filter has unknown members: ${shown.join(', ')}${more}; known are ${MEMBERS.join(', ')}`,
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
