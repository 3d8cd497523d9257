import { RpcError } from '../../../jsonrpc/index.ts';
import type { Address, Direction, Hash, Order } from '../../../traces/index.ts';
import { address as addressKind, hash as hashKind } from '../../methods/paramTypes.ts';
import { quoted } from '../traceFilter/quoted.ts';

/** Maximum number of rows on a page, and on a page and all earlier pages. Block explorers have the same limit. */
export const MAX_ROWS = 10_000;

export type ExplorerQuery =
  | { readonly of: 'transaction'; readonly hash: Hash; readonly rows: Rows; readonly order: Order }
  | {
      readonly of: 'range';
      /** Address that sent or received the internal transactions. Default: all addresses. */
      readonly address: Address | undefined;
      readonly direction: Direction;
      readonly startBlock: number;
      /** Last block of the range. Default: the latest block. */
      readonly endBlock: number | undefined;
      readonly rows: Rows;
      readonly order: Order;
    };

export interface Rows {
  readonly skip: number;
  readonly count: number;
}

/** Query parameters that are rejected, because they are not supported. Ignoring them would give a wrong result. */
const NOT_SERVED = ['starttimestamp', 'endtimestamp'];

/**
 * Validates the query string. Parameter names are case-insensitive; the first of equal names is used. Empty values are
 * ignored. Throws RpcError.
 */
export function readExplorerQuery(query: URLSearchParams, chainId: string | undefined): ExplorerQuery {
  const given = givenIn(query);
  checkWhat(given, chainId);
  const hash = given.get('txhash');
  const address = given.get('address');
  const order = oneOf(given, 'sort', ['asc', 'desc']) ?? 'asc';
  const rows = readRows(given);
  if (hash !== undefined) {
    if (address !== undefined) throw refused('txhash and address are mutually exclusive: omit one of them');
    return { of: 'transaction', hash: readHex<Hash>(hashKind, 'txhash', hash), rows, order };
  }
  const startBlock = readBlock(given, 'startblock') ?? 0;
  const endBlock = readBlock(given, 'endblock');
  if (endBlock !== undefined && startBlock > endBlock)
    throw refused(`startblock ${startBlock} is after endblock ${endBlock}`);
  return {
    of: 'range',
    address: address === undefined ? undefined : readHex<Address>(addressKind, 'address', address),
    direction: oneOf(given, 'filterby', ['from', 'to']) ?? 'either',
    startBlock,
    endBlock,
    rows,
    order,
  };
}

export interface BlockByTimeQuery {
  /** Seconds since 1970. */
  readonly timestamp: number;
  readonly closest: 'before' | 'after';
}

/** Validates the query string of a search for a block by its time, like `readExplorerQuery`. */
export function readBlockByTimeQuery(query: URLSearchParams, chainId: string | undefined): BlockByTimeQuery {
  const given = givenIn(query);
  checkChain(given, chainId);
  const timestamp = readNumber(given, 'timestamp');
  if (timestamp === undefined) throw refused('Error! Missing timestamp: seconds since 1970');
  return { timestamp, closest: oneOf(given, 'closest', ['before', 'after']) ?? 'before' };
}

export function isBlockByTime(query: URLSearchParams): boolean {
  const given = givenIn(query);
  return (
    given.get('module')?.toLowerCase() === 'block' &&
    given.get('action')?.toLowerCase() === 'getblocknobytime'
  );
}

function givenIn(query: URLSearchParams): ReadonlyMap<string, string> {
  const given = new Map<string, string>();
  for (const [name, value] of query) {
    const key = name.toLowerCase();
    if (value !== '' && !given.has(key)) given.set(key, value);
  }
  return given;
}

/** Rejects unsupported queries. Error messages start with words for which clients of block explorers test. */
function checkWhat(given: ReadonlyMap<string, string>, chainId: string | undefined): void {
  const served = 'use module=account&action=txlistinternal or module=block&action=getblocknobytime';
  const notServed = (name: 'module' | 'action'): string => {
    const value = given.get(name);
    return value === undefined ? served : `${quoted(value)} is not supported; ${served}`;
  };
  const module = given.get('module')?.toLowerCase();
  if (module !== 'account' && module !== 'block')
    throw refused(`Error! Missing Or invalid Module name: ${notServed('module')}`);
  if (module === 'block' || given.get('action')?.toLowerCase() !== 'txlistinternal')
    throw refused(`Error! Missing Or invalid Action name: ${notServed('action')}`);
  checkChain(given, chainId);
  const unknown = NOT_SERVED.find((name) => given.has(name));
  if (unknown !== undefined) throw refused(`${unknown} is not supported: use startblock and endblock`);
  if (given.get('include_zero_value')?.toLowerCase() === 'true')
    throw refused(
      'include_zero_value is not supported: floodgate_addressTraces also returns calls without value',
    );
}

function checkChain(given: ReadonlyMap<string, string>, chainId: string | undefined): void {
  const chain = given.get('chainid');
  if (chain !== undefined && chainId !== undefined && chain !== chainId)
    throw refused(
      `Missing or unsupported chainid parameter: it is ${quoted(chain)}, and this chain is ${chainId}`,
    );
}

function readRows(given: ReadonlyMap<string, string>): Rows {
  // 0 means "not set", because some clients always send `page` and `offset`.
  const page = readNumber(given, 'page') || 1;
  const offset = readNumber(given, 'offset') || MAX_ROWS;
  if (offset > MAX_ROWS || page * offset > MAX_ROWS)
    throw refused(
      `Result window is too large, PageNo x Offset size must be less than or equal to ${MAX_ROWS}: page is ${page} and offset ${offset}; use smaller values, or a later startblock`,
    );
  return { skip: (page - 1) * offset, count: offset };
}

const WHOLE_NUMBER = /^\d{1,15}$/;

function readNumber(given: ReadonlyMap<string, string>, name: string): number | undefined {
  const value = given.get(name);
  if (value === undefined) return undefined;
  if (!WHOLE_NUMBER.test(value)) throw refused(`${name} is ${quoted(value)}; it must be a whole number`);
  return Number(value);
}

/** Returns a block number from the query. Undefined if the parameter is absent, or if `endblock` is `latest`. */
function readBlock(given: ReadonlyMap<string, string>, name: 'startblock' | 'endblock'): number | undefined {
  if (name === 'endblock' && given.get(name)?.toLowerCase() === 'latest') return undefined;
  return readNumber(given, name);
}

function readHex<T extends string>(kind: typeof addressKind, name: string, value: string): T {
  try {
    return kind.read(value, name) as T; // validated by the parameter type
  } catch {
    throw refused(`Error! Invalid ${name} format: it is ${quoted(value)}; it must be ${kind.allowed}`);
  }
}

function oneOf<T extends string>(
  given: ReadonlyMap<string, string>,
  name: string,
  allowed: readonly T[],
): T | undefined {
  const value = given.get(name);
  if (value === undefined) return undefined;
  const known = allowed.find((one) => one === value.toLowerCase());
  if (known === undefined) throw refused(`${name} is ${quoted(value)}; it must be ${allowed.join(' or ')}`);
  return known;
}

const refused = (message: string): RpcError => new RpcError('invalidParams', message);
