import type { CallLimits } from '../callLimits.ts';
import type { Handler, Method } from '../method.ts';
import type { Network } from '../relay/network.ts';
import { nodeCall } from '../relay/nodeCall.ts';
import { relayed } from '../relay/relayed.ts';
import { traced } from '../relay/traced/traced.ts';
import type { IndexServices } from '../traceIndex/traces/indexServices.ts';
import { paramsReader } from './readParams.ts';
import type { FilterRow, MethodRow } from './row.ts';

export interface MethodServices {
  readonly network: Network;
  readonly index: IndexServices;
  readonly filters: (row: FilterRow) => Handler;
  /** Returns the OpenRPC document as JSON. Called when it is first requested, so that the server starts faster. */
  readonly description: (limits: CallLimits) => Buffer;
}

/** Creates a method from its row in the method table. It reads parameters, checks limits and runs the handler. */
export function methodOf(row: MethodRow, services: MethodServices): Method {
  const read = isExtra(row) ? asTheyCame : paramsReader(row.params);
  const handler = handlerOf(row, services);
  return {
    name: row.name,
    changesState: isOnce(row),
    isForEveryKey: row.scope.of === 'table',
    handle(given, context) {
      const params = read(given);
      row.checkLimits?.(params, context.limits);
      return handler(params, context);
    },
  };
}

function isOnce(row: MethodRow): boolean {
  if ('isFilter' in row) return row.isOnce === true;
  return 'once' in row && row.once === true && row.isExtra !== true;
}

const isExtra = (row: MethodRow): boolean => 'isExtra' in row && row.isExtra === true;
const asTheyCame = (given: readonly unknown[]): readonly unknown[] => given;

function handlerOf(row: MethodRow, { network, index, filters, description }: MethodServices): Handler {
  if ('isFilter' in row) return filters(row);
  if ('result' in row) return relayed(row, network);
  if ('traces' in row) return traced(row, network, index);
  return 'handler' in row ? row.handler(index, nodeCall(network)) : documentHandler(description);
}

/** Returns the handler of the document. It keeps the document of the last limits, which are usually those of all. */
function documentHandler(make: (limits: CallLimits) => Buffer): Handler {
  let last: { readonly limits: CallLimits; readonly bytes: Buffer } | undefined;
  return (_, { limits }) => {
    if (last?.limits !== limits) last = { limits, bytes: make(limits) };
    return last.bytes;
  };
}
