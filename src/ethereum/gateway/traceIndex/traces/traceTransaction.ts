import type { Hash } from '../../../traces/index.ts';
import type { Handler } from '../../method.ts';
import { fromTransaction } from './fromTransaction.ts';
import type { IndexServices } from './indexServices.ts';

const INSTEAD = 'request single traces with trace_get';

/** Returns the handler of trace_transaction. An unknown transaction yields `null`, as in Parity and Erigon. */
export function traceTransaction(services: IndexServices): Handler {
  const { maxAnswerBytes } = services;
  const answer = fromTransaction(services, INSTEAD);
  return ([transactionHash], caller) => {
    const hash = transactionHash as Hash; // validated by the parameter type
    return answer(hash, caller, (store, within) =>
      store.transactionTraces(hash, { ...within, maxBytes: maxAnswerBytes, nextTurn: caller.nextTurn }),
    );
  };
}
