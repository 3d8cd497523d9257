import type { Method } from '../method.ts';
import type { Network } from '../relay/network.ts';
import { relayed } from '../relay/relayed.ts';
import type { IndexServices } from '../traces/indexServices.ts';
import { paramsReader } from './readParams.ts';
import type { MethodRow } from './row.ts';

/** What the methods of one network are answered with. */
export interface MethodServices {
  readonly network: Network;
  readonly index: IndexServices;
}

/** A row of the table as one network serves it: its parameters are read and held to its limits, then its handler answers. */
export function methodOf(row: MethodRow, { network, index }: MethodServices): Method {
  const read = paramsReader(row.params);
  const handler = 'handler' in row ? row.handler(index) : relayed(row, network);
  return {
    name: row.name,
    changesState: 'once' in row && row.once === true,
    handle(given, context) {
      const params = read(given);
      row.checkLimits?.(params);
      return handler(params, context);
    },
  };
}
