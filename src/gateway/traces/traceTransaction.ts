import type { Method } from '../method.ts';
import type { TraceMethodOptions } from './options.ts';
import { checkCount, readHash } from './readTraceParams.ts';
import { tracesOf } from './tracesOf.ts';

const NULL = Buffer.from('null');

/** trace_transaction, answered from the index; `null` for a transaction that is in no block, as Parity and Erigon answer. */
export function traceTransaction(options: TraceMethodOptions): Method {
  return {
    name: 'trace_transaction',
    summary: 'All traces of a transaction, from the index.',
    async handle(params) {
      checkCount(params, ['transaction hash']);
      return (await tracesOf(options, readHash('params[0] (transaction hash)', params[0]))) ?? NULL;
    },
  };
}
