import type { Hash } from '../../traces/index.ts';
import type { Handler } from '../method.ts';
import { fromTransaction } from './fromTransaction.ts';
import type { IndexServices } from './indexServices.ts';

const INSTEAD = 'ask for single traces with trace_get';

/** trace_transaction, answered from the index; `null` for a transaction that is in no block, as Parity and Erigon answer. */
export function traceTransaction(services: IndexServices): Handler {
  const { store, maxAnswerBytes } = services;
  const answer = fromTransaction(services, INSTEAD);
  return ([transactionHash]) => {
    const hash = transactionHash as Hash; // what the parameter's kind made
    return answer(hash, (upTo) => store.transactionTraces(hash, { maxBytes: maxAnswerBytes, upTo }));
  };
}
