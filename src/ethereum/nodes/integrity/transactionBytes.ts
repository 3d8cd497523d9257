import { RLP, type RLPInput } from 'micro-eth-signer/core/rlp.js';
import { quantityBytes } from './quantityBytes.ts';

type Members = Readonly<Record<string, unknown>>;

const FEE_CAPPED = [
  'chainId',
  'nonce',
  'maxPriorityFeePerGas',
  'maxFeePerGas',
  'gas',
  'to',
  'value',
  'input',
];
const SIGNATURE = ['yParity', 'r', 's'];

/** By transaction type, the members in the order of their encoding (EIP-2718, and the EIPs that add types). */
const FORMS: Readonly<Record<string, readonly string[]>> = {
  '0x0': ['nonce', 'gasPrice', 'gas', 'to', 'value', 'input', 'v', 'r', 's'],
  '0x1': ['chainId', 'nonce', 'gasPrice', 'gas', 'to', 'value', 'input', 'accessList', ...SIGNATURE],
  '0x2': [...FEE_CAPPED, 'accessList', ...SIGNATURE],
  '0x3': [...FEE_CAPPED, 'accessList', 'maxFeePerBlobGas', 'blobVersionedHashes', ...SIGNATURE],
  '0x4': [...FEE_CAPPED, 'accessList', 'authorizationList', ...SIGNATURE],
};
const AUTHORIZATION = ['chainId', 'address', 'nonce', 'yParity', 'r', 's'];

/** A transaction cannot be encoded, because a member is missing or has an unknown form. */
class UnknownForm extends Error {}

/** Returns a transaction's signed bytes, whose hash is the transaction's hash; undefined if its form is unknown. */
export function transactionBytes(transaction: Members): Uint8Array | undefined {
  const type = transaction['type'] ?? '0x0';
  const form = typeof type === 'string' ? FORMS[type] : undefined;
  if (form === undefined) return undefined;
  try {
    const bytes = RLP.encode(encoded(transaction, form));
    return type === '0x0' ? bytes : Buffer.concat([quantityBytes(String(type)), bytes]);
  } catch (error) {
    if (error instanceof UnknownForm) return undefined;
    throw error;
  }
}

const encoded = (members: Members, form: readonly string[]): RLPInput[] =>
  form.map((name) => (ENCODED[name] ?? quantity)(members, name));

const ENCODED: Readonly<Record<string, (members: Members, name: string) => RLPInput>> = {
  to: ({ to }) => (to === null || to === undefined ? new Uint8Array() : data(to)),
  address: ({ address }) => data(address),
  input: ({ input, data: other }) => data(input ?? other),
  // Some nodes return the parity only as `v`.
  yParity: ({ yParity, v }) => quantity({ parity: yParity ?? v }, 'parity'),
  accessList: ({ accessList }) =>
    objects(accessList).map(({ address, storageKeys }) => [data(address), list(storageKeys).map(data)]),
  blobVersionedHashes: ({ blobVersionedHashes }) => list(blobVersionedHashes).map(data),
  authorizationList: ({ authorizationList }) =>
    objects(authorizationList).map((entry) => encoded(entry, AUTHORIZATION)),
};

const HEX = /^0x[0-9a-f]*$/i;

function quantity(members: Members, name: string): Uint8Array {
  const value = members[name];
  if (typeof value !== 'string' || !HEX.test(value)) throw new UnknownForm();
  return quantityBytes(value);
}

function data(value: unknown): Uint8Array {
  if (typeof value !== 'string' || !HEX.test(value) || value.length % 2 !== 0) throw new UnknownForm();
  return Buffer.from(value.slice(2), 'hex');
}

function list(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new UnknownForm();
  return value;
}

const objects = (value: unknown): readonly Members[] =>
  list(value).map((entry) => {
    if (typeof entry !== 'object' || entry === null) throw new UnknownForm();
    return entry as Members; // a JSON object
  });
