import { RpcError } from '../../../jsonrpc/index.ts';
import type { ParamType } from '../../methods/paramType.ts';
import { index } from '../../methods/paramTypes.ts';

const INDEX = /^0x0*([0-9a-f]{1,7})$/i;
/** Maximum length of the path of a frame. The call stack is at most 1,024 deep, and a call that exceeds it fails. */
const MAX_PATH_LENGTH = 1025;

/** Path of a frame in a transaction's call tree: the index of the child at each depth, from the root. */
export const framePath: ParamType = {
  allowed: `an array of at most ${MAX_PATH_LENGTH} indexes, for example ["0x0"]`,
  schema: { type: 'array', maxItems: MAX_PATH_LENGTH, ...(index.schema && { items: index.schema }) },
  read(value, path): readonly number[] {
    if (!Array.isArray(value) || value.length > MAX_PATH_LENGTH)
      throw new RpcError('invalidParams', `${path} must be ${framePath.allowed}`);
    return value.map((item: unknown, i) => {
      if (typeof item === 'number' && Number.isSafeInteger(item) && item >= 0) return item;
      const digits = typeof item === 'string' ? INDEX.exec(item)?.[1] : undefined;
      if (digits !== undefined) return Number.parseInt(digits, 16);
      throw new RpcError('invalidParams', `${path}[${i}] must be an index, as a 0x string or a JSON integer`);
    });
  },
};
