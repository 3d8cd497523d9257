import { RpcError } from '../../jsonrpc/index.ts';
import type { Hash } from '../../traces/index.ts';

const HASH = /^0x[0-9a-f]{64}$/i;
const INDEX = /^0x0*([0-9a-f]{1,7})$/i;
/** The call stack is at most 1024 deep, so no path is longer. */
const MAX_PATH_LENGTH = 1025;

/** Refuses a number of parameters that a method does not have. */
export function checkCount(params: readonly unknown[], names: readonly string[]): void {
  if (params.length === names.length) return;
  throw new RpcError(
    'invalidParams',
    `params must have ${names.length} ${names.length === 1 ? 'element' : 'elements'} (${names.join(', ')}); it has ${params.length}`,
  );
}

/** A transaction's hash. Throws RpcError. */
export function readHash(member: string, value: unknown): Hash {
  if (typeof value === 'string' && HASH.test(value)) return value.toLowerCase() as Hash; // just tested
  throw new RpcError('invalidParams', `${member} must be a hash: 0x and 64 hex digits`);
}

/** The place of a frame in its transaction: the index of a child at each depth, from the root down. Throws RpcError. */
export function readPath(member: string, value: unknown): readonly number[] {
  if (!Array.isArray(value) || value.length > MAX_PATH_LENGTH)
    throw new RpcError(
      'invalidParams',
      `${member} must be an array of at most ${MAX_PATH_LENGTH} indexes, for example ["0x0"]`,
    );
  return value.map((item: unknown, i) => {
    if (typeof item === 'number' && Number.isSafeInteger(item) && item >= 0) return item;
    const digits = typeof item === 'string' ? INDEX.exec(item)?.[1] : undefined;
    if (digits !== undefined) return Number.parseInt(digits, 16);
    throw new RpcError('invalidParams', `${member}[${i}] must be an index, as a 0x string or a JSON integer`);
  });
}
