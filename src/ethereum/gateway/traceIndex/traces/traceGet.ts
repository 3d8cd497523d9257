import type { Hash } from '../../../traces/index.ts';
import type { Handler } from '../../method.ts';
import { fromTransaction } from './fromTransaction.ts';
import type { IndexServices } from './indexServices.ts';

const INSTEAD = 'a single trace cannot be split (the limit is gateway.maxAnswerBytes)';

/** Returns the handler of trace_get. Its result is the frame with this `traceAddress`, or `null`. */
export function traceGet(services: IndexServices): Handler {
  const { maxAnswerBytes } = services;
  const answer = fromTransaction(services, INSTEAD);
  return ([transactionHash, framePath], caller) => {
    const hash = transactionHash as Hash; // validated by the parameter types
    const path = framePath as readonly number[];
    return answer(hash, caller, (store, within) =>
      store.transactionTrace(hash, path, { ...within, maxBytes: maxAnswerBytes }),
    );
  };
}
