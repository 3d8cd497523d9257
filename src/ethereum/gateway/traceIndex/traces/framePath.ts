import { listOf, type ParamType } from '../../methods/paramType.ts';
import { index } from '../../methods/paramTypes.ts';

/** Maximum length of the path of a frame. The call stack is at most 1,024 deep, and a call that exceeds it fails. */
const MAX_PATH_LENGTH = 1025;

const indexes = listOf(index, MAX_PATH_LENGTH);

/** Path of a frame in a transaction's call tree: the index of the child at each depth, from the root. */
export const framePath: ParamType = {
  ...indexes,
  read: (value, path): readonly number[] => (indexes.read(value, path) as string[]).map(Number), // quantities
};
