import { isObject, type JsonSchema, type Kind, kind, listOf, objectOf, refuse } from './kind.ts';

/** The tags that a block parameter may have. */
export const TAGS = ['latest', 'safe', 'finalized', 'earliest', 'pending'] as const;
export type Tag = (typeof TAGS)[number];

export const isTag = (value: unknown): value is Tag => TAGS.some((tag) => tag === value);

const hexOf =
  (pattern: RegExp) =>
  (value: unknown): string | undefined =>
    typeof value === 'string' && pattern.test(value) ? value.toLowerCase() : undefined;

/** Text in hex, as a schema. */
export const hexText = (digits: string): JsonSchema => ({
  type: 'string',
  pattern: `^0x[0-9a-fA-F]${digits}$`,
});
const integer: JsonSchema = { type: 'integer', minimum: 0 };

export const address = kind('an address: 0x and 40 hex digits', hexOf(/^0x[0-9a-f]{40}$/i), hexText('{40}'));
export const hash = kind('a hash: 0x and 64 hex digits', hexOf(/^0x[0-9a-f]{64}$/i), hexText('{64}'));
/** As text: 0x and 64 digits. */
const HASH_LENGTH = 66;
export const data = kind('bytes: 0x and an even number of hex digits', hexOf(/^0x(?:[0-9a-f]{2})*$/i), {
  type: 'string',
  pattern: '^0x([0-9a-fA-F]{2})*$',
});
export const boolean = kind('true or false', (value) => (typeof value === 'boolean' ? value : undefined), {
  type: 'boolean',
});

const QUANTITY = /^0x0*([0-9a-f]{1,64})$/i;

/** A quantity of at most 256 bits as a `0x` string without leading zeros; undefined where it is none. */
function quantityOf(value: unknown): string | undefined {
  if (typeof value === 'number')
    return Number.isSafeInteger(value) && value >= 0 ? `0x${value.toString(16)}` : undefined;
  const digits = typeof value === 'string' ? QUANTITY.exec(value)?.[1] : undefined;
  return digits === undefined ? undefined : `0x${digits.toLowerCase()}`;
}

export const quantity = kind(
  'a quantity: a 0x string of at most 256 bits, or a JSON integer from 0 to 2^53 - 1',
  quantityOf,
  { oneOf: [hexText('+'), integer] },
);

const safeQuantityOf = (value: unknown): string | undefined => {
  const read = quantityOf(value);
  return read !== undefined && Number.isSafeInteger(Number(read)) ? read : undefined;
};

/** A place in a list. */
export const index = kind('an index: a 0x string or a JSON integer from 0 to 2^53 - 1', safeQuantityOf, {
  oneOf: [hexText('+'), integer],
});

const BLOCK_ALLOWED = `a block number (a 0x string or a JSON integer) or one of ${TAGS.join(', ')}`;

/** A block by number or by one of these tags, as a schema. */
export const blockSchema = (tags: readonly string[]): JsonSchema => ({
  oneOf: [{ type: 'string', enum: tags }, hexText('{1,14}'), integer],
});

export const block = kind(
  BLOCK_ALLOWED,
  (value) => (isTag(value) ? value : safeQuantityOf(value)),
  blockSchema(TAGS),
);

const byHash = objectOf('an object', { blockHash: hash, blockNumber: block, requireCanonical: boolean });

/** A block whose state is asked about: by number, tag, or the object of EIP-1898. */
export const stateBlock: Kind = {
  allowed: `${BLOCK_ALLOWED}, or {"blockHash": …} (EIP-1898)`,
  schema: { anyOf: [block.schema, byHash.schema] },
  read(value, path) {
    if (!isObject(value)) {
      const read = isTag(value) ? value : safeQuantityOf(value);
      return read === undefined ? refuse(path, stateBlock.allowed, value) : read;
    }
    const named = byHash.read(value, path) as { blockHash?: string; blockNumber?: string }; // see byHash
    if (named.blockHash !== undefined && named.blockNumber === undefined) return named;
    if (named.blockNumber !== undefined && named.blockHash === undefined) return named.blockNumber;
    return refuse(path, 'an object with either blockHash or blockNumber', value);
  },
};

/** A block by number, tag or hash, the hash in the object of EIP-1898 or as it is. */
export const anyBlock: Kind = {
  allowed: `${BLOCK_ALLOWED}, or its hash, as it is or as {"blockHash": …} (EIP-1898)`,
  schema: { anyOf: [block.schema, hash.schema, byHash.schema] },
  read: (value, path) =>
    typeof value === 'string' && value.length === HASH_LENGTH
      ? { blockHash: hash.read(value, path) }
      : stateBlock.read(value, path),
};

/** Storage keys of an eth_getProof; what geth takes. */
const MAX_STORAGE_KEYS = 1024;
/** Entries of an access list; far above what a block's gas pays for. */
const MAX_ACCESS_LIST_ENTRIES = 10_000;
const MAX_BLOBS = 64;
const MAX_AUTHORIZATIONS = 10_000;

/** A storage slot. Nodes differ in whether they take a short one: left as it came, in lower case. */
export const slot = kind(
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

/** The transaction of eth_call and eth_estimateGas. */
export const transaction = objectOf('a transaction object, for example {"to":"0x…","data":"0x…"}', {
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
});

/** Overrides of state and block pass through to the node; deeper than this they are no overrides. */
const MAX_OVERRIDE_DEPTH = 8;

export const overrides = kind(
  'an object',
  (value) =>
    isObject(value) && depthOf(value, MAX_OVERRIDE_DEPTH) <= MAX_OVERRIDE_DEPTH ? value : undefined,
  { type: 'object' },
);

/** How deep a JSON value is nested, looked at down to `most` + 1. */
export function depthOf(value: unknown, most: number): number {
  if (typeof value !== 'object' || value === null) return 0;
  if (most < 0) return 1;
  let deepest = 0;
  for (const member of Object.values(value)) deepest = Math.max(deepest, depthOf(member, most - 1));
  return deepest + 1;
}

const MAX_PERCENTILES = 100;

export const percentiles: Kind = {
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
    return rising ? value : refuse(path, percentiles.allowed, value);
  },
};
