import { NodeError } from '../../nodes/index.ts';
import type { Members, RelayedRow, ResultShape } from './row.ts';

/** What a node's answer is of. */
export interface AnsweredCall {
  readonly row: RelayedRow;
  /** Canonical. */
  readonly params: readonly unknown[];
  readonly chainId: string | undefined;
}

/**
 * Checks of a node's answer that cost microseconds: its shape, and what its row checks besides. Throws InvalidResponseError, or
 * NodeError for the wrong shape.
 */
export function checkAnswer({ row, params, chainId }: AnsweredCall, value: unknown): void {
  if (!SHAPES[row.result](value))
    throw new NodeError('nonsense', `${row.name} was answered with something that is no ${row.result}`);
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
