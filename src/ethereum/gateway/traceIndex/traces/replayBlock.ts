import type { Part } from '../../../jsonrpc/index.ts';
import { joined } from '../../http/respond.ts';
import type { Handler } from '../../method.ts';
import type { IndexServices } from './indexServices.ts';
import { checkTraceTypes, framesByTransaction, replayOf } from './replayed.ts';
import { traceBlock } from './traceBlock.ts';

/** Returns the handler of trace_replayBlockTransactions. Its result has no rewards. */
export function replayBlock(services: IndexServices): Handler {
  const read = traceBlock(services);
  return async ([block, types], context) => {
    checkTraceTypes('trace_replayBlockTransactions', types as string[]); // validated by the parameter types
    const traces = (await read([block], context)) as Buffer; // the handler of trace_block returns a Buffer
    const { nextTurn } = context;
    const replays: Part[] = [];
    for (const frames of await framesByTransaction(traces, nextTurn))
      replays.push(',', await replayOf(frames, { finder: services.finder, nextTurn, withHash: true }));
    return joined(['[', ...replays.slice(1), ']']);
  };
}
