import { SMALL_BYTES } from '../commonParams.ts';
import type { RelayedRow, ResultShape } from '../row.ts';

/** Returns the row of a method without parameters that returns a small value of the node that is asked. */
export const valueOfNode = (name: string, summary: string, result: ResultShape): RelayedRow => ({
  name,
  summary,
  params: [],
  scope: { of: 'moment' },
  result,
  smallBytes: SMALL_BYTES.value,
});
