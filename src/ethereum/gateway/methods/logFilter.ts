import { RpcError } from '../../jsonrpc/index.ts';
import { type Kind, kind, listOf, objectOf } from './kind.ts';
import { address, blockSchema, hash, isTag, type Tag } from './kinds.ts';

/** The filter of eth_getLogs in canonical form. A filter has either a block hash or bounds. */
export interface LogFilter {
  readonly blockHash?: string;
  readonly fromBlock?: string;
  readonly toBlock?: string;
  readonly address?: string | readonly string[];
  readonly topics?: readonly (string | null | readonly (string | null)[])[];
}

/** Addresses and alternatives of a topic; what geth takes. */
const MAX_ALTERNATIVES = 1000;
/** A log has at most four topics. */
const MAX_TOPICS = 4;

/** Logs of pending blocks are not served by nodes any more. */
const LOG_TAGS: readonly Tag[] = ['latest', 'safe', 'finalized', 'earliest'];

const bound = kind(
  `a block number (a 0x string or a JSON integer) or one of ${LOG_TAGS.join(', ')}`,
  (value) => {
    if (isTag(value)) return LOG_TAGS.includes(value) ? value : undefined;
    const number = typeof value === 'string' && /^0x[0-9a-f]+$/i.test(value) ? Number(value) : value;
    return Number.isSafeInteger(number) && Number(number) >= 0
      ? `0x${Number(number).toString(16)}`
      : undefined;
  },
  blockSchema(LOG_TAGS),
);

/** A bound as a number; undefined where it is left out, or a tag that moves. */
export function numberOfBound(bound: string | undefined): number | undefined {
  if (bound === 'earliest') return 0;
  return bound === undefined || isTag(bound) ? undefined : Number(bound);
}

const orList = (item: Kind): Kind => {
  const list = listOf(item, MAX_ALTERNATIVES);
  return {
    allowed: `${item.allowed}, or a list of at most ${MAX_ALTERNATIVES} of them`,
    schema: { anyOf: [item.schema ?? {}, list.schema ?? {}] },
    read: (value, path) => (Array.isArray(value) ? list : item).read(value, path),
  };
};
const orNull = (item: Kind): Kind => ({
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

export const logFilter: Kind = {
  allowed: filter.allowed,
  ...(filter.schema && { schema: filter.schema }),
  read(value, path) {
    const read = filter.read(value, path) as LogFilter; // the members of `filter` are LogFilter's
    if (read.blockHash === undefined)
      return { ...read, fromBlock: read.fromBlock ?? 'latest', toBlock: read.toBlock ?? 'latest' };
    if (read.fromBlock === undefined && read.toBlock === undefined) return read;
    throw new RpcError(
      'invalidParams',
      `${path} must have either blockHash or fromBlock and toBlock, not both`,
    );
  },
};

/** The filter of what is new. It may have bounds: go-ethereum's client sends them with every subscription. */
export const liveLogFilter: Kind = {
  allowed: filter.allowed,
  ...(filter.schema && { schema: filter.schema }),
  read(value, path) {
    const read = filter.read(value, path) as LogFilter; // the members of `filter` are LogFilter's
    if (read.blockHash !== undefined)
      throw new RpcError(
        'invalidParams',
        `${path} must have no blockHash: nothing new comes of one block; eth_getLogs gives its logs`,
      );
    const [from, to] = [numberOfBound(read.fromBlock), numberOfBound(read.toBlock)];
    if (from !== undefined && to !== undefined && from > to)
      throw new RpcError('invalidParams', `fromBlock ${from} is after toBlock ${to}; it must not be`);
    return read;
  },
};
