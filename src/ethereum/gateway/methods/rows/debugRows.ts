import { blockHash, transaction, transactionHash } from '../commonParams.ts';
import * as kinds from '../paramTypes.ts';
import type { Param, TracedRow } from '../row.ts';
import { TRACERS, type TracerName, tracerOptions } from '../tracerOptions.ts';

// Nodes cannot trace the block `pending`.
const block: Param = { name: 'block', kind: kinds.minedBlock };
const stateBlock: Param = { name: 'block', kind: kinds.minedStateBlock };

/** Returns the methods that trace with native tracers of nodes, for the tracers that the operator allows. */
export function debugRows(tracers: readonly TracerName[]): readonly TracedRow[] {
  const options: Param = { name: 'options', kind: tracerOptions(tracers, false) };
  const shared = { limits: 'only with `gateway.debugTracers`; `tracer` is required' };
  const ofBlock = {
    ...shared,
    scope: { of: 'traced' },
    traces: 'block',
    resultSchema: { type: 'array', items: { type: 'object' } },
  } as const;
  return [
    {
      ...shared,
      name: 'debug_traceTransaction',
      summary: 'The result of a tracer for a transaction.',
      params: [transactionHash, options],
      scope: { of: 'traced' },
      traces: 'transaction',
      resultSchema: {},
    },
    {
      ...ofBlock,
      name: 'debug_traceBlockByNumber',
      summary: 'The results of a tracer for all transactions of a block.',
      params: [block, options],
    },
    {
      ...ofBlock,
      name: 'debug_traceBlockByHash',
      summary: 'The results of a tracer for all transactions of a block.',
      params: [blockHash, options],
    },
    {
      ...shared,
      name: 'debug_traceCall',
      summary: 'The result of a tracer for a call that is not sent as a transaction.',
      params: [transaction, stateBlock, { name: 'options', kind: tracerOptions(tracers, true) }],
      scope: { of: 'moment' },
      traces: 'call',
      resultSchema: {},
    },
  ];
}

export const DEBUG_ROWS = debugRows(TRACERS);
