import type { Address, TraceFilter } from '../../src/ethereum/traces/index.ts';

/** The chain that filters refer to. */
export interface Chain {
  readonly head: number;
  readonly safe: number;
  readonly finalized: number;
  has(block: number): boolean;
  /** Returns the number of a block by hash. */
  numberOf(hash: string): number | undefined;
}

const MEMBERS = new Set([
  ...['fromBlock', 'toBlock', 'blockHash', 'fromAddress', 'toAddress', 'mode', 'after', 'count'],
]);
const MEMBERS_OF_RANGE = ['fromBlock', 'toBlock'];
const MAX_RANGE_BLOCKS = 800;
/** Number of a named block that the chain does not have. */
const NO_BLOCK = -1;
const MAX_COUNT = 200;
const MAX_ADDRESSES = 1000;

/**
 * Returns the meaning of a filter according to docs/internals/decisions/gateway.md, without any code of the gateway; undefined
 * if it must be rejected.
 */
export function meaningOf(value: unknown, chain: Chain): TraceFilter | undefined {
  const given = value === undefined ? {} : value;
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return undefined;
  if (Object.keys(given).some((member) => !MEMBERS.has(member))) return undefined;
  const filter = new Map<string, unknown>(Object.entries(given));
  const hash = filter.get('blockHash') ?? null;
  const isNamed = hash !== null;
  if (isNamed && (!isHash(hash) || MEMBERS_OF_RANGE.some((member) => (filter.get(member) ?? null) !== null)))
    return undefined;
  const named = isHash(hash) ? chain.numberOf(hash.toLowerCase()) : undefined;
  const fromBlock = isNamed ? (named ?? NO_BLOCK) : blockOf(filter.get('fromBlock') ?? 'latest', chain);
  const toBlock = isNamed ? (named ?? NO_BLOCK) : blockOf(filter.get('toBlock') ?? 'latest', chain);
  const fromAddresses = addressesOf(filter.get('fromAddress') ?? []);
  const toAddresses = addressesOf(filter.get('toAddress') ?? []);
  const mode = filter.get('mode') ?? 'intersection';
  const after = quantityOf(filter.get('after') ?? 0);
  const wantsAll = (filter.get('count') ?? null) === null;
  const count = wantsAll ? MAX_COUNT : quantityOf(filter.get('count'));
  if (fromBlock === undefined || toBlock === undefined || after === undefined || count === undefined)
    return undefined;
  if (fromAddresses === undefined || toAddresses === undefined) return undefined;
  if (mode !== 'intersection' && mode !== 'union') return undefined;
  if (count > MAX_COUNT || toBlock > chain.head || fromBlock > toBlock) return undefined;
  if (toBlock - fromBlock + 1 > MAX_RANGE_BLOCKS) return undefined;
  const meant = { fromBlock, toBlock, fromAddresses, toAddresses, mode, after, count, wantsAll } as const;
  if (count === 0) return meant;
  for (let block = fromBlock; block <= toBlock; block++) if (!chain.has(block)) return undefined;
  return meant;
}

const isHash = (value: unknown): value is string =>
  typeof value === 'string' && /^0x[0-9a-f]{64}$/i.test(value);

function blockOf(value: unknown, { head, safe, finalized }: Chain): number | undefined {
  const tags = new Map<unknown, number>([
    ['latest', head],
    ['safe', safe],
    ['finalized', finalized],
    ['earliest', 0],
  ]);
  return tags.get(value) ?? quantityOf(value);
}

function quantityOf(value: unknown): number | undefined {
  if (typeof value === 'string') {
    // geth also accepts `0X` for `0x`.
    if (!/^0x[0-9a-f]+$/i.test(value)) return undefined;
    const number = BigInt(value);
    return number <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(number) : undefined;
  }
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

function addressesOf(value: unknown): readonly Address[] | undefined {
  const list = Array.isArray(value) ? value : [value];
  if (list.length > MAX_ADDRESSES) return undefined;
  const addresses: Address[] = [];
  for (const item of list) {
    if (typeof item !== 'string' || !/^0x[0-9a-f]{40}$/i.test(item)) return undefined;
    addresses.push(item.toLowerCase() as Address); // just tested
  }
  return addresses;
}
