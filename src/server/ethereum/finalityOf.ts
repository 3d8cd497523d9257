import type { Config } from '../../config/index.ts';
import type { Finality } from '../../ethereum/nodes/index.ts';

const DEPTH = 'depth:';

/** Returns the option `index.finality` in parsed form; undefined if it is not set. */
export function finalityOf({ finality }: Pick<Config['index'], 'finality'>): Finality | undefined {
  if (finality === undefined || finality === 'node' || finality === 'none') return finality;
  return { depth: Number(finality.slice(DEPTH.length)) }; // the schema has checked the form
}
