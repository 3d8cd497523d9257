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
  readonly kind: string | undefined;
  readonly from: string | undefined;
  readonly to: string | undefined;
  readonly value: string | undefined;
  readonly gas: string | undefined;
  readonly gasUsed: string | undefined;
  readonly input: string | undefined;
  readonly output: string | undefined;
  readonly error: string | undefined;
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

/** The columns that depend on the type of a trace. */
type Parts = {
  readonly [column in 'kind' | 'from' | 'to' | 'value' | 'gas' | 'gasUsed' | 'input' | 'output']?:
    | string
    | undefined;
};

export function rowOf(trace: Trace): TraceRow {
  const { kind, from, to, value, gas, gasUsed, input, output } = partsOf(trace);
  return {
    blockNumber: trace.blockNumber,
    blockHash: trace.blockHash,
    transactionPosition: trace.transactionPosition,
    transactionHash: trace.transactionHash,
    traceAddress: trace.traceAddress,
    type: trace.type,
    kind,
    from,
    to,
    value,
    gas,
    gasUsed,
    input,
    output,
    error: 'error' in trace ? trace.error : undefined,
    subtraces: trace.subtraces,
  };
}

function partsOf(trace: Trace): Parts {
  switch (trace.type) {
    case 'call': {
      const { callType: kind, from, to, value, gas, input } = trace.action;
      const { result } = trace;
      return { kind, from, to, value, gas, input, gasUsed: result?.gasUsed, output: result?.output };
    }
    case 'create': {
      const { creationMethod: kind, from, value, gas, init: input } = trace.action;
      const { result } = trace;
      const gasUsed = result?.gasUsed;
      if (result === null || !('address' in result))
        return { kind, from, value, gas, input, gasUsed, output: result?.output };
      return { kind, from, to: result.address, value, gas, input, gasUsed, output: result.code };
    }
    case 'suicide':
      return { from: trace.action.address, to: trace.action.refundAddress, value: trace.action.balance };
    case 'reward':
      return { kind: trace.action.rewardType, to: trace.action.author, value: trace.action.value };
  }
}
