import { KeptAnswer } from '../cache/keptAnswer.ts';
import type { PolledFilters } from '../filters/polledFilters.ts';
import type { Handler, Method } from '../method.ts';
import type { Network } from '../relay/network.ts';
import { relayed } from '../relay/relayed.ts';
import type { IndexServices } from '../traces/indexServices.ts';
import { paramsReader } from './readParams.ts';
import type { MethodRow } from './row.ts';

/** What the methods of one network are answered with. */
export interface MethodServices {
  readonly network: Network;
  readonly index: IndexServices;
  readonly filters: PolledFilters;
  /** Makes the OpenRPC document of what is served, as JSON: for the first who asks, not at each start. */
  readonly description: () => Buffer;
}

/** A row of the table as one network serves it: its parameters are read and held to its limits, then its handler answers. */
export function methodOf(row: MethodRow, services: MethodServices): Method {
  const read = isExtra(row) ? asTheyCame : paramsReader(row.params);
  const handler = handlerOf(row, services);
  return {
    name: row.name,
    changesState: isOnce(row),
    isForEveryKey: row.scope.of === 'table',
    handle(given, context) {
      const params = read(given);
      row.checkLimits?.(params);
      return handler(params, context);
    },
  };
}

function isOnce(row: MethodRow): boolean {
  if ('filterHandler' in row) return row.isOnce === true;
  return 'once' in row && row.once === true && row.isExtra !== true;
}

const isExtra = (row: MethodRow): boolean => 'isExtra' in row && row.isExtra === true;
const asTheyCame = (given: readonly unknown[]): readonly unknown[] => given;

function handlerOf(row: MethodRow, { network, index, filters, description }: MethodServices): Handler {
  if ('filterHandler' in row) return row.filterHandler(filters);
  if ('result' in row) return relayed(row, network);
  return 'handler' in row ? row.handler(index) : constant(description);
}

function constant(make: () => Buffer): Handler {
  let kept: KeptAnswer | undefined;
  return (_params, context) => {
    kept ??= new KeptAnswer(make());
    context.kept = kept;
    return kept.bytes;
  };
}
