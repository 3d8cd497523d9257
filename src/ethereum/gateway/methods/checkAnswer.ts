import { NodeError } from '../../nodes/index.ts';
import type { Members, RelayedRow, ResultShape } from './row.ts';

export interface AnsweredCall {
  readonly row: RelayedRow;
  readonly params: readonly unknown[];
  readonly chainId: string | undefined;
}

/**
 * Checks that a node's result has the shape that the method's row requires, and runs the check of that row. The two
 * checks take microseconds. Throws InvalidResponseError, or NodeError if the shape is wrong.
 */
export function checkAnswer({ row, params, chainId }: AnsweredCall, value: unknown): void {
  if (!SHAPES[row.result](value))
    throw new NodeError('nonsense', `the result of ${row.name} is not of type ${row.result}`);
  row.check?.(params, value as Members, chainId); // the shape was checked above
}

const hex = (pattern: RegExp) => (value: unknown) => typeof value === 'string' && pattern.test(value);

const SHAPES: Readonly<Record<ResultShape, (value: unknown) => boolean>> = {
  quantity: hex(/^0x[0-9a-f]{1,64}$/i),
  data: hex(/^0x[0-9a-f]*$/i),
  text: (value) => typeof value === 'string',
  boolean: (value) => typeof value === 'boolean',
  object: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  list: Array.isArray,
  any: () => true,
};
