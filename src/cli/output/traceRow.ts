import type { Trace } from '../../ethereum/traces/index.ts';
import type { ExportedHeader } from '../../server/index.ts';

/**
 * A trace as a table row. A creation has the created address in `to` and the init code in `input`. A selfdestruct has
 * the contract in `from` and the beneficiary in `to`.
 */
export interface TraceRow {
  readonly blockNumber: number;
  readonly blockHash: string;
  readonly transactionPosition: number | null;
  readonly transactionHash: string | null;
  readonly traceAddress: readonly number[];
  readonly type: Trace['type'];
  readonly kind?: string;
  readonly from?: string;
  readonly to?: string;
  readonly value?: string;
  readonly gas?: string;
  readonly gasUsed?: string;
  readonly input?: string;
  readonly output?: string;
  readonly error?: string;
  readonly subtraces: number;
}

export const COLUMNS = [
  'blockNumber',
  'blockHash',
  'transactionPosition',
  'transactionHash',
  'traceAddress',
  'type',
  'kind',
  'from',
  'to',
  'value',
  'gas',
  'gasUsed',
  'input',
  'output',
  'error',
  'subtraces',
] as const satisfies readonly (keyof TraceRow)[];

export const HEADER_COLUMNS = [
  'blockNumber',
  'blockHash',
  'parentHash',
  'timestamp',
  'traceCount',
  'unavailable',
  'chainId',
  'genesisHash',
] as const satisfies readonly (keyof ExportedHeader)[];

export function rowOf(trace: Trace): TraceRow {
  const { blockNumber, blockHash, transactionPosition, transactionHash, traceAddress, type, subtraces } =
    trace;
  const place = { blockNumber, blockHash, transactionPosition, transactionHash, traceAddress };
  const error = 'error' in trace && trace.error !== undefined ? { error: trace.error } : {};
  return { ...place, type, subtraces, ...error, ...partsOf(trace) };
}

function partsOf(trace: Trace): Partial<TraceRow> {
  switch (trace.type) {
    case 'call': {
      const { callType: kind, from, to, value, gas, input } = trace.action;
      return { kind, from, to, value, gas, input, ...(trace.result ?? {}) };
    }
    case 'create': {
      const { creationMethod: kind, from, value, gas, init: input } = trace.action;
      const { result } = trace;
      const made = result && 'address' in result ? { to: result.address, output: result.code } : {};
      return { ...(kind && { kind }), from, value, gas, input, ...(result ?? {}), ...made };
    }
    case 'suicide':
      return { from: trace.action.address, to: trace.action.refundAddress, value: trace.action.balance };
    case 'reward':
      return { kind: trace.action.rewardType, to: trace.action.author, value: trace.action.value };
  }
}
