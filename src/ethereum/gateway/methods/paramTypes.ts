import { depthOf } from '../../../platform/nesting/index.ts';
import {
  isObject,
  type JsonSchema,
  listOf,
  objectOf,
  type ParamType,
  paramType,
  rejectParam,
  setOf,
} from './paramType.ts';

export const TAGS = ['latest', 'safe', 'finalized', 'earliest', 'pending'] as const;
export type Tag = (typeof TAGS)[number];

export const isTag = (value: unknown): value is Tag => TAGS.some((tag) => tag === value);

const hexOf =
  (pattern: RegExp) =>
  (value: unknown): string | undefined =>
    typeof value === 'string' && pattern.test(value) ? value.toLowerCase() : undefined;

/** Returns the JSON Schema of a hex string. `digits` is the regular expression for the number of digits. */
export const hexText = (digits: string): JsonSchema => ({
  type: 'string',
  pattern: `^0x[0-9a-fA-F]${digits}$`,
});
const integer: JsonSchema = { type: 'integer', minimum: 0 };

export const address = paramType(
  'an address: 0x and 40 hex digits',
  hexOf(/^0x[0-9a-f]{40}$/i),
  hexText('{40}'),
);
export const hash = paramType('a hash: 0x and 64 hex digits', hexOf(/^0x[0-9a-f]{64}$/i), hexText('{64}'));
/** Number of characters of a hash in hex: `0x` and 64 digits. */
const HASH_LENGTH = 66;
export const data = paramType('bytes: 0x and an even number of hex digits', hexOf(/^0x(?:[0-9a-f]{2})*$/i), {
  type: 'string',
  pattern: '^0x([0-9a-fA-F]{2})*$',
});
export const boolean = paramType(
  'true or false',
  (value) => (typeof value === 'boolean' ? value : undefined),
  {
    type: 'boolean',
  },
);

const QUANTITY = /^0x0*([0-9a-f]{1,64})$/i;

/** Returns a quantity of at most 256 bits as a `0x` string without leading zeros. Undefined if the value is invalid. */
function quantityOf(value: unknown): string | undefined {
  if (typeof value === 'number')
    return Number.isSafeInteger(value) && value >= 0 ? `0x${value.toString(16)}` : undefined;
  const digits = typeof value === 'string' ? QUANTITY.exec(value)?.[1] : undefined;
  return digits === undefined ? undefined : `0x${digits.toLowerCase()}`;
}

export const quantity = paramType(
  'a quantity: a 0x string of at most 256 bits, or a JSON integer from 0 to 2^53 - 1',
  quantityOf,
  { oneOf: [hexText('+'), integer] },
);

const safeQuantityOf = (value: unknown): string | undefined => {
  const read = quantityOf(value);
  return read !== undefined && Number.isSafeInteger(Number(read)) ? read : undefined;
};

/** Index of an item in a list, such as of a transaction in its block. */
export const index = paramType('an index: a 0x string or a JSON integer from 0 to 2^53 - 1', safeQuantityOf, {
  oneOf: [hexText('+'), integer],
});

/** Returns the type of a count from 1 to `max`. */
export const countUpTo = (max: number): ParamType =>
  paramType(
    `a number from 1 to ${max}`,
    (value) => {
      const read = safeQuantityOf(value);
      return read !== undefined && Number(read) >= 1 && Number(read) <= max ? read : undefined;
    },
    { oneOf: [hexText('+'), { type: 'integer', minimum: 1, maximum: max }] },
  );

/** Returns the description of a valid block number or tag, for error messages. */
export const allowedBlock = (tags: readonly string[]): string =>
  `a block number from 0 to 2^53 - 1 (a 0x string or a JSON integer) or one of ${tags.join(', ')}`;

export const blockSchema = (tags: readonly string[]): JsonSchema => ({
  oneOf: [{ type: 'string', enum: tags }, hexText('{1,14}'), integer],
});

const blockIn =
  (tags: readonly Tag[]) =>
  (value: unknown): string | undefined =>
    tags.find((tag) => tag === value) ?? safeQuantityOf(value);

const blockOf = (tags: readonly Tag[]): ParamType =>
  paramType(allowedBlock(tags), blockIn(tags), blockSchema(tags));

/**
 * Returns the type of a block number, tag or hash. A hash may be a 32-byte hex string or an EIP-1898 object with
 * `blockHash`; the canonical form is the object.
 */
function stateBlockOf(tags: readonly Tag[]): ParamType {
  const numbered = blockOf(tags);
  const named = objectOf('an object', { blockHash: hash, blockNumber: numbered, requireCanonical: boolean });
  const allowed = `${numbered.allowed}, or its 32-byte hash, as it is or as {"blockHash": …} (EIP-1898)`;
  return {
    allowed,
    schema: { anyOf: [numbered.schema, hash.schema, named.schema] },
    read(value, path) {
      // As execution-apis specifies, a hex string of 32 bytes is always a hash, never a number with leading zeros.
      if (typeof value === 'string' && value.length === HASH_LENGTH)
        return { blockHash: hash.read(value, path) };
      if (!isObject(value)) return blockIn(tags)(value) ?? rejectParam(path, allowed, value);
      const read = named.read(value, path) as { blockHash?: string; blockNumber?: string }; // `named` returns these members
      if (read.blockHash !== undefined && read.blockNumber === undefined) return read;
      if (read.blockNumber !== undefined && read.blockHash === undefined) return read.blockNumber;
      return rejectParam(path, 'an object with either blockHash or blockNumber', value);
    },
  };
}

const MINED_TAGS = TAGS.filter((tag) => tag !== 'pending');

export const block = blockOf(TAGS);
export const stateBlock = stateBlockOf(TAGS);
/** Types for methods that need a mined block: without the tag `pending`. */
export const minedBlock = blockOf(MINED_TAGS);
export const minedStateBlock = stateBlockOf(MINED_TAGS);

/** Maximum number of storage keys in a call of eth_getProof. Equal to geth's limit. */
const MAX_STORAGE_KEYS = 1024;
/** Maximum number of access list entries. A block's gas limit allows far fewer. */
const MAX_ACCESS_LIST_ENTRIES = 10_000;
const MAX_BLOBS = 64;
const MAX_AUTHORIZATIONS = 10_000;

/** Storage slot in lower case. The node decides how many digits are valid, because only some nodes require all 64. */
export const slot = paramType(
  'a storage slot: 0x and 1 to 64 hex digits',
  (value) => (typeof value === 'number' ? quantityOf(value) : hexOf(/^0x[0-9a-f]{1,64}$/i)(value)),
  hexText('{1,64}'),
);
export const slots = listOf(slot, MAX_STORAGE_KEYS);

const accessList = listOf(
  objectOf('an object with address and storageKeys', {
    address,
    storageKeys: listOf(slot, MAX_ACCESS_LIST_ENTRIES),
  }),
  MAX_ACCESS_LIST_ENTRIES,
);
const authorization = objectOf('an authorization of EIP-7702', {
  chainId: quantity,
  address,
  nonce: quantity,
  yParity: quantity,
  v: quantity,
  r: quantity,
  s: quantity,
});

/** Members that only sign a transaction. web3.js 4 also sends them in eth_call and eth_estimateGas; nodes ignore them. */
const SIGNING_OPTIONS = ['chain', 'hardfork', 'networkId', 'common'];

const transactionMembers: Readonly<Record<string, ParamType>> = {
  from: address,
  to: address,
  gas: quantity,
  gasPrice: quantity,
  maxFeePerGas: quantity,
  maxPriorityFeePerGas: quantity,
  maxFeePerBlobGas: quantity,
  value: quantity,
  nonce: quantity,
  data,
  input: data,
  type: quantity,
  chainId: quantity,
  accessList,
  blobVersionedHashes: listOf(hash, MAX_BLOBS),
  authorizationList: listOf(authorization, MAX_AUTHORIZATIONS),
};
export const transaction = objectOf(
  'a transaction object, for example {"to":"0x…","data":"0x…"}',
  transactionMembers,
  SIGNING_OPTIONS,
);

/** Maximum nesting depth of the state and block overrides of a call, which are relayed to the node. */
const MAX_OVERRIDE_DEPTH = 8;

export const overrides = paramType(
  'an object',
  (value) =>
    isObject(value) && depthOf(value, MAX_OVERRIDE_DEPTH) <= MAX_OVERRIDE_DEPTH ? value : undefined,
  { type: 'object' },
);

const MAX_PERCENTILES = 100;

export const percentiles: ParamType = {
  allowed: `a list of at most ${MAX_PERCENTILES} numbers from 0 to 100 in rising order`,
  schema: { type: 'array', maxItems: MAX_PERCENTILES, items: { type: 'number', minimum: 0, maximum: 100 } },
  read(value, path) {
    const rising =
      Array.isArray(value) &&
      value.length <= MAX_PERCENTILES &&
      value.every(
        (item: unknown, i) =>
          typeof item === 'number' && item >= 0 && item <= 100 && (i === 0 || item >= Number(value[i - 1])),
      );
    return rising ? value : rejectParam(path, percentiles.allowed, value);
  },
};

const TRACE_TYPES = ['trace', 'vmTrace', 'stateDiff'];

/** Trace types of the replay methods. `checkTraceTypes` rejects those that are not served. */
export const traceTypes = setOf(
  paramType(`one of ${TRACE_TYPES.join(', ')}`, (value) => TRACE_TYPES.find((type) => type === value), {
    enum: TRACE_TYPES,
  }),
  TRACE_TYPES.length,
);

/** Option of Erigon's trace methods. Its canonical form is null, because the allowed values do not change a result. */
export const traceConfig = paramType(
  'null, {} or {"includePrecompiles":false}',
  (value) => {
    if (!isObject(value)) return undefined;
    const isDefault = Object.entries(value).every(
      ([name, member]) => name === 'includePrecompiles' && (member === false || member === null),
    );
    return isDefault ? null : undefined;
  },
  { type: 'object', properties: { includePrecompiles: { const: false } }, additionalProperties: false },
);
