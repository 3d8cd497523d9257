import { RpcError } from '../../jsonrpc/index.ts';
import { listOf, objectOf, type ParamType, paramType, setOf } from './paramType.ts';
import { address, allowedBlock, blockSchema, hash, isTag, type Tag } from './paramTypes.ts';

/** Canonical filter of eth_getLogs. It has either a block hash or the bounds of a block range. */
export interface LogFilter {
  readonly blockHash?: string;
  readonly fromBlock?: string;
  readonly toBlock?: string;
  readonly address?: string | readonly string[];
  readonly topics?: readonly (string | null | readonly (string | null)[])[];
}

/** Maximum number of addresses in a log filter, and of alternatives per topic. Equal to geth's limit. */
const MAX_ALTERNATIVES = 1000;
/** Maximum number of topics in a log filter. A log has at most four topics. */
const MAX_TOPICS = 4;

/** Block tags that a log filter accepts. It does not accept `pending`: nodes return no logs of pending blocks. */
const LOG_TAGS: readonly Tag[] = ['latest', 'safe', 'finalized', 'earliest'];

const bound = paramType(
  allowedBlock(LOG_TAGS),
  (value) => {
    if (isTag(value)) return LOG_TAGS.includes(value) ? value : undefined;
    const number = typeof value === 'string' && /^0x[0-9a-f]+$/i.test(value) ? Number(value) : value;
    return Number.isSafeInteger(number) && Number(number) >= 0
      ? `0x${Number(number).toString(16)}`
      : undefined;
  },
  blockSchema(LOG_TAGS),
);

/** Returns a bound of a block range as a number; `earliest` is 0. Undefined for other tags, or without a bound. */
export function numberOfBound(bound: string | undefined): number | undefined {
  if (bound === 'earliest') return 0;
  return bound === undefined || isTag(bound) ? undefined : Number(bound);
}

/** Returns the addresses that a filter allows, then the topics of each position. Undefined allows any value. */
export function wantedValues({
  address,
  topics = [],
}: Pick<LogFilter, 'address' | 'topics'>): (ReadonlySet<string> | undefined)[] {
  return [address ?? null, ...topics].map((choice) => {
    const choices = [choice].flat();
    // An empty list and a list with null allow any value.
    return choices.length === 0 || choices.includes(null) ? undefined : new Set(choices as readonly string[]);
  });
}

const orList = (item: ParamType): ParamType => {
  const list = setOf(item, MAX_ALTERNATIVES);
  return {
    allowed: `${item.allowed}, or a list of at most ${MAX_ALTERNATIVES} of them`,
    schema: { anyOf: [item.schema ?? {}, list.schema ?? {}] },
    read: (value, path) => (Array.isArray(value) ? list : item).read(value, path),
  };
};
const orNull = (item: ParamType): ParamType => ({
  allowed: `${item.allowed}, or null`,
  schema: { anyOf: [item.schema ?? {}, { type: 'null' }] },
  read: (value, path) => (value === null ? null : item.read(value, path)),
});

const whichLogs = {
  address: orList(address),
  topics: listOf(orNull(orList(orNull(hash))), MAX_TOPICS),
};

const filter = objectOf('a filter object, for example {"fromBlock":"0x1","toBlock":"0x2"}', {
  fromBlock: bound,
  toBlock: bound,
  blockHash: hash,
  ...whichLogs,
});

export const logFilter: ParamType = {
  allowed: filter.allowed,
  ...(filter.schema && { schema: filter.schema }),
  read(value, path) {
    const read = filter.read(value, path) as LogFilter; // `filter` returns the members of LogFilter
    if (read.blockHash === undefined)
      return { ...read, fromBlock: read.fromBlock ?? 'latest', toBlock: read.toBlock ?? 'latest' };
    if (read.fromBlock === undefined && read.toBlock === undefined) return read;
    throw new RpcError(
      'invalidParams',
      `${path} must have either blockHash or fromBlock and toBlock, not both`,
    );
  },
};

/** Filter of a log subscription. `fromBlock` and `toBlock` are allowed: go-ethereum's client always sends them. */
export const liveLogFilter: ParamType = {
  allowed: filter.allowed,
  ...(filter.schema && { schema: filter.schema }),
  read(value, path) {
    const read = filter.read(value, path) as LogFilter; // `filter` returns the members of LogFilter
    if (read.blockHash !== undefined)
      throw new RpcError(
        'invalidParams',
        `${path} must not have blockHash: a single block has no new logs; use eth_getLogs`,
      );
    const [from, to] = [numberOfBound(read.fromBlock), numberOfBound(read.toBlock)];
    if (from !== undefined && to !== undefined && from > to)
      throw new RpcError('invalidParams', `fromBlock ${from} is after toBlock ${to}`);
    return read;
  },
};
