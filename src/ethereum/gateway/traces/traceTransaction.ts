import type { Method } from '../method.ts';
import { answerInBytes } from '../traceFilter/fromIndex.ts';
import { fromTransaction } from './fromTransaction.ts';
import type { TraceMethodOptions } from './options.ts';
import { checkCount, readHash } from './readTraceParams.ts';

const NULL = Buffer.from('null');

/** trace_transaction, answered from the index; `null` for a transaction that is in no block, as Parity and Erigon answer. */
export function traceTransaction(options: TraceMethodOptions): Method {
  const { store, maxAnswerBytes } = options;
  return {
    name: 'trace_transaction',
    summary: 'All traces of a transaction, from the index.',
    async handle(params) {
      checkCount(params, ['transaction hash']);
      const hash = readHash('params[0] (transaction hash)', params[0]);
      const read = () =>
        answerInBytes(
          () => store.transactionTraces(hash, maxAnswerBytes),
          'ask for single traces with trace_get',
        );
      return (await fromTransaction(options, hash, read)) ?? NULL;
    },
  };
}
