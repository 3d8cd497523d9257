import type { Method } from '../method.ts';
import { answerInBytes } from '../traceFilter/fromIndex.ts';
import { fromTransaction } from './fromTransaction.ts';
import type { TraceMethodOptions } from './options.ts';
import { checkCount, readHash, readPath } from './readTraceParams.ts';

const NULL = Buffer.from('null');

/**
 * trace_get, answered from the index: the frame of a transaction whose `traceAddress` is the path that is asked for; `null`
 * where there is none.
 */
export function traceGet(options: TraceMethodOptions): Method {
  const { store, maxAnswerBytes } = options;
  return {
    name: 'trace_get',
    summary: 'One trace of a transaction, by its place in the call tree, from the index.',
    async handle(params) {
      checkCount(params, ['transaction hash', 'path']);
      const hash = readHash('params[0] (transaction hash)', params[0]);
      const path = readPath('params[1] (path)', params[1]);
      const read = () =>
        answerInBytes(
          () => store.transactionTrace(hash, path, maxAnswerBytes),
          'a single trace cannot be asked for in parts (the limit is gateway.maxAnswerBytes)',
        );
      return (await fromTransaction(options, hash, read)) ?? NULL;
    },
  };
}
