import type { Hash } from '../../traces/index.ts';
import type { Handler } from '../method.ts';
import { fromTransaction } from './fromTransaction.ts';
import type { IndexServices } from './indexServices.ts';

const INSTEAD = 'a single trace cannot be asked for in parts (the limit is gateway.maxAnswerBytes)';

/**
 * trace_get, answered from the index: the frame of a transaction whose `traceAddress` is the path that is asked for; `null`
 * where there is none.
 */
export function traceGet(services: IndexServices): Handler {
  const { store, maxAnswerBytes } = services;
  const answer = fromTransaction(services, INSTEAD);
  return ([transactionHash, framePath]) => {
    const hash = transactionHash as Hash; // what the parameters' kinds made
    const path = framePath as readonly number[];
    return answer(hash, (upTo) => store.transactionTrace(hash, path, { maxBytes: maxAnswerBytes, upTo }));
  };
}
