import { overLimit } from '../../../jsonrpc/index.ts';
import {
  type Address,
  type Direction,
  type HistoryFilter,
  MAX_HISTORY_ADDRESSES,
  MAX_HISTORY_LIMIT,
  type Order,
  type TraceKind,
} from '../../../traces/index.ts';
import { isObject, type ParamType, rejectParam } from '../../methods/paramType.ts';
import { address as addressKind, boolean, quantity } from '../../methods/paramTypes.ts';
import type { BlockBound } from '../traceFilter/blockTag.ts';
import { checkOrder, unknownMembers } from '../traceFilter/params.ts';
import { readBlockBound, readQuantity } from '../traceFilter/quantity.ts';

export const DEFAULT_LIMIT = 100;

export const TYPES = ['call', 'create', 'suicide', 'reward'] as const;
export const CALL_TYPES = ['call', 'staticcall', 'delegatecall', 'callcode'] as const;

export interface WantedTraces {
  readonly addresses: readonly Address[];
  readonly direction: Direction;
  readonly filter: HistoryFilter;
}

/** Parameter of floodgate_addressTraces after validation, except for the checks that need the current head. */
export interface AddressTracesParams extends WantedTraces {
  /** First block of the range. Default: the lowest block of the index. */
  readonly from: BlockBound | undefined;
  readonly to: BlockBound;
  readonly order: Order;
  readonly limit: number;
  readonly cursor: string | undefined;
}

const WANTED = ['address', 'direction', 'types', 'callTypes', 'minValue', 'internal', 'failed'];
const MEMBERS = [...WANTED, 'fromBlock', 'toBlock', 'order', 'limit', 'cursor'];

const ALLOWED = 'an object, for example {"address":"0x…"}';

/** Parameter of floodgate_addressTraces. Names and types of the members are checked first, then the limits. */
export const addressTracesObject: ParamType = {
  allowed: ALLOWED,
  read(value, path): AddressTracesParams {
    const members = readMembers(value, path, { allowed: ALLOWED, known: MEMBERS });
    const cursor = members['cursor'] ?? undefined;
    if (cursor !== undefined && typeof cursor !== 'string')
      return rejectParam('cursor', 'the cursor of the previous page', cursor);
    const read = {
      ...readWanted(members),
      ...readBounds(members),
      order: oneOf('order', ['desc', 'asc'], members['order']) ?? 'desc',
      limit: readQuantity('limit', members['limit']) ?? DEFAULT_LIMIT,
      cursor,
    } as const;
    checkAddresses(members['address'], MAX_HISTORY_ADDRESSES);
    if (read.limit > MAX_HISTORY_LIMIT) throw overLimit('limit', MAX_HISTORY_LIMIT, read.limit);
    if (read.limit === 0) return rejectParam('limit', `a whole number from 1 to ${MAX_HISTORY_LIMIT}`, 0);
    return read;
  },
};

/** Filter of a trace subscription: the members of floodgate_addressTraces except block range, order and paging. */
export const wantedTracesObject: ParamType = {
  allowed: ALLOWED,
  read(value, path): WantedTraces {
    const members = readMembers(value, path, { allowed: ALLOWED, known: WANTED });
    const wanted = readWanted(members);
    checkAddresses(members['address'], MAX_HISTORY_ADDRESSES);
    return wanted;
  },
};

const readWanted = (members: Readonly<Record<string, unknown>>): WantedTraces => ({
  addresses: readAddresses(members['address']),
  direction: oneOf('direction', ['from', 'to', 'either'], members['direction']) ?? 'either',
  filter: readFilter(members),
});

/** Returns the members of a JSON object. Throws RpcError if it has members that are not in `known`. */
export function readMembers(
  value: unknown,
  path: string,
  { allowed, known }: { readonly allowed: string; readonly known: readonly string[] },
): Readonly<Record<string, unknown>> {
  if (!isObject(value)) return rejectParam(path, allowed, value);
  const unknown = Object.keys(value).filter((name) => !known.includes(name));
  if (unknown.length > 0) throw unknownMembers(path, unknown, known);
  return value;
}

export function readBounds(members: Readonly<Record<string, unknown>>): {
  from: BlockBound | undefined;
  to: BlockBound;
} {
  const first = members['fromBlock'] ?? undefined;
  const from = first === undefined ? undefined : readBlockBound('fromBlock', first);
  const to = readBlockBound('toBlock', members['toBlock']);
  if (typeof from === 'number' && typeof to === 'number') checkOrder(from, to);
  return { from, to };
}

function readAddresses(value: unknown): readonly Address[] {
  const list = Array.isArray(value) ? value : [value];
  if (list.length === 0)
    return rejectParam('address', `an address or a list of 1 to ${MAX_HISTORY_ADDRESSES}`, value);
  const addresses = list.map(
    (item: unknown, i) =>
      addressKind.read(item, Array.isArray(value) ? `address[${i}]` : 'address') as Address, // validated by the parameter type
  );
  return [...new Set(addresses)];
}

function checkAddresses(value: unknown, max: number): void {
  if (Array.isArray(value) && value.length > max) throw overLimit('addresses', max, value.length);
}

function readFilter(members: Readonly<Record<string, unknown>>): HistoryFilter {
  const types = someOf('types', TYPES, members['types']);
  const callTypes = someOf('callTypes', CALL_TYPES, members['callTypes']);
  const minValue = members['minValue'] ?? undefined;
  const internal = members['internal'] ?? undefined;
  const failed = members['failed'] ?? undefined;
  return {
    ...((types ?? callTypes) !== undefined && { kinds: kindsOf(types ?? TYPES, callTypes ?? CALL_TYPES) }),
    ...(minValue !== undefined && { minValue: BigInt(quantity.read(minValue, 'minValue') as string) }), // validated by the parameter type
    ...(internal !== undefined && { internal: boolean.read(internal, 'internal') === true }),
    ...(failed !== undefined && { failed: boolean.read(failed, 'failed') === true }),
  };
}

/** Returns the trace types and call types to select. Call types restrict only traces of type `call`. */
const kindsOf = (
  types: readonly (typeof TYPES)[number][],
  callTypes: readonly (typeof CALL_TYPES)[number][],
): TraceKind[] => types.flatMap((type): readonly TraceKind[] => (type === 'call' ? callTypes : [type]));

function oneOf<T extends string>(member: string, allowed: readonly T[], value: unknown): T | undefined {
  if (value === undefined || value === null) return undefined;
  return allowed.find((known) => known === value) ?? rejectParam(member, quotedList(allowed), value);
}

function someOf<T extends string>(member: string, allowed: readonly T[], value: unknown): T[] | undefined {
  if (value === undefined || value === null) return undefined;
  if (!Array.isArray(value) || value.length === 0 || value.length > allowed.length)
    return rejectParam(member, `a list of 1 to ${allowed.length} of ${quotedList(allowed)}`, value);
  return value.map(
    (item: unknown, i) =>
      oneOf(`${member}[${i}]`, allowed, item) ?? rejectParam(`${member}[${i}]`, quotedList(allowed), item),
  );
}

const quotedList = (allowed: readonly string[]): string =>
  allowed.map((text) => JSON.stringify(text)).join(', ');
