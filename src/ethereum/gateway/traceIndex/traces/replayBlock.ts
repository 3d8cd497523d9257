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
    const replays: string[] = [];
    for (const frames of framesByTransaction(traces))
      replays.push(await replayOf(frames, services.finder, true));
    return Buffer.from(`[${replays.join(',')}]`, 'latin1');
  };
}
