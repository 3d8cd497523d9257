import type { MaybePromise } from '../../traces/index.ts';
import type { Handler, NodeCall } from '../method.ts';
import { RELAYED_ROWS } from '../methods/rows/relayedRows.ts';
import type { Network } from './network.ts';
import { relayed } from './relayed.ts';

/** Returns a function that calls relayed methods of a network. */
export function nodeCall(network: Network): NodeCall {
  const handlers = new Map<string, Handler>();
  const handlerOf = (method: string): Handler => {
    const row = RELAYED_ROWS.find(({ name }) => name === method);
    if (row === undefined) throw new Error(`${method} is not relayed`);
    const handler = relayed(row, network);
    handlers.set(method, handler);
    return handler;
  };
  return (method, params, context) =>
    // Without `mayStream`, the handler of a relayed method returns the whole result.
    (handlers.get(method) ?? handlerOf(method))(
      params,
      context.mayStream ? { ...context, mayStream: false } : context,
    ) as MaybePromise<Buffer>;
}
