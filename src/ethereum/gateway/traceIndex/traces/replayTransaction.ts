import type { Hash } from '../../../traces/index.ts';
import type { Handler } from '../../method.ts';
import type { IndexServices } from './indexServices.ts';
import { checkTraceTypes, framesByTransaction, replayOf } from './replayed.ts';
import { traceTransaction } from './traceTransaction.ts';

const NULL = Buffer.from('null');

/**
 * Returns the handler of trace_replayTransaction: the frames of a transaction as the index has them, without members
 * that name block and transaction. An unknown transaction yields `null`.
 */
export function replayTransaction(services: IndexServices): Handler {
  const read = traceTransaction(services);
  const { finder } = services;
  return async ([transactionHash, types], context) => {
    const { nextTurn } = context;
    checkTraceTypes('trace_replayTransaction', types as string[]); // validated by the parameter types
    const traces = (await read([transactionHash], context)) as Buffer; // the handler of trace_transaction returns a Buffer
    if (traces.equals(NULL)) return NULL;
    const [frames = { hash: transactionHash as Hash, frames: [] }] = await framesByTransaction(
      traces,
      nextTurn,
    );
    return replayOf(frames, { finder, nextTurn, withHash: false });
  };
}
