import type { Trace } from '../../traces/index.ts';
import type { Method } from '../method.ts';
import type { TraceMethodOptions } from './options.ts';
import { checkCount, readHash, readPath } from './readTraceParams.ts';
import { tracesOf } from './tracesOf.ts';

const NULL = Buffer.from('null');

/**
 * trace_get, answered from the index: the frame of a transaction whose `traceAddress` is the path that is asked for; `null`
 * where there is none.
 */
export function traceGet(options: TraceMethodOptions): Method {
  return {
    name: 'trace_get',
    summary: 'One trace of a transaction, by its place in the call tree, from the index.',
    async handle(params) {
      checkCount(params, ['transaction hash', 'path']);
      const hash = readHash('params[0] (transaction hash)', params[0]);
      const path = readPath('params[1] (path)', params[1]).join();
      const traces = await tracesOf(options, hash);
      if (traces === undefined) return NULL;
      const list = JSON.parse(traces.toString()) as Trace[]; // written from traces that were checked
      const found = list.find(({ traceAddress }) => traceAddress.join() === path);
      return found === undefined ? NULL : Buffer.from(JSON.stringify(found));
    },
  };
}
