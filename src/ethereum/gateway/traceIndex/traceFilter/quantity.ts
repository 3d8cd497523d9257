import { RpcError } from '../../../jsonrpc/index.ts';
import type { ParamType } from '../../methods/paramType.ts';
import { allowedBlock, blockSchema } from '../../methods/paramTypes.ts';
import { BLOCK_TAGS, type BlockBound, type BlockTag } from './blockTag.ts';
import { quoted } from './quoted.ts';

/** Matches a hex number of at most 14 digits, enough for every safe integer. Further leading zeros are accepted. */
const HEX = /^0x0*([0-9a-f]{1,14})$/i;

/** Reads a `0x` string or a JSON integer. Returns undefined if it is absent or null. Throws RpcError. */
export function readQuantity(member: string, value: unknown): number | undefined {
  if (value === undefined || value === null) return undefined;
  const number = parseQuantity(value);
  if (number !== undefined) return number;
  throw new RpcError(
    'invalidParams',
    `${member} is ${quoted(value)}; it must be a whole number from 0 to 2^53 - 1, as a 0x string or a JSON integer`,
  );
}

const BOUND_ALLOWED = allowedBlock(BLOCK_TAGS);

/** Validates a block number or tag. Default: `latest`. Throws RpcError. */
export function readBlockBound(member: string, value: unknown): BlockBound {
  if (value === undefined || value === null) return 'latest';
  const tag = BLOCK_TAGS.find((known): known is BlockTag => known === value);
  const bound = tag ?? parseQuantity(value);
  if (bound !== undefined) return bound;
  throw new RpcError('invalidParams', `${member} is ${quoted(value)}; it must be ${BOUND_ALLOWED}`);
}

/** Block number or tag as a parameter. Null means `latest`. */
export const blockBound: ParamType = {
  allowed: BOUND_ALLOWED,
  schema: blockSchema(BLOCK_TAGS),
  read: (value, path) => readBlockBound(path, value),
};

function parseQuantity(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) && value >= 0 ? value : undefined;
  if (typeof value !== 'string') return undefined;
  const digits = HEX.exec(value)?.[1];
  if (digits === undefined) return undefined;
  const number = Number.parseInt(digits, 16);
  return Number.isSafeInteger(number) ? number : undefined;
}
