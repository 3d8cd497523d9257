import type { ColumnSource } from 'hyparquet-writer';
import type { Trace } from '../../src/ethereum/traces/index.ts';
import type { SyntheticBlock } from './syntheticChain.ts';

/** Rows of cryo for blocks, in the order in which cryo sorts them. */
export function cryoColumns(blocks: readonly SyntheticBlock[]): ColumnSource[] {
  const traces = blocks.flatMap(({ traces }) => traces);
  const sorted = traces.toSorted(
    (a, b) => a.blockNumber - b.blockNumber || (a.transactionPosition ?? -1) - (b.transactionPosition ?? -1),
  );
  const action = (name: string) => (trace: Trace) =>
    (trace.action as unknown as Record<string, string>)[name];
  const result = (name: string) => (trace: Trace) =>
    (trace.result as unknown as Record<string, string> | null)?.[name];
  const bytes = (value: string | null | undefined) =>
    value === null || value === undefined ? undefined : Buffer.from(value.slice(2), 'hex');
  const binary = (name: string, of: (trace: Trace) => string | null | undefined): ColumnSource => ({
    name,
    type: 'BYTE_ARRAY',
    nullable: true,
    data: sorted.map((trace) => bytes(of(trace))),
  });
  const text = (name: string, of: (trace: Trace) => string | undefined): ColumnSource => ({
    name,
    type: 'STRING',
    nullable: true,
    data: sorted.map(of),
  });
  const number = (name: string, of: (trace: Trace) => number | string | null | undefined): ColumnSource => ({
    name,
    type: 'INT32',
    nullable: true,
    data: sorted.map((trace) =>
      of(trace) === undefined || of(trace) === null ? undefined : Number(of(trace)),
    ),
  });
  const callTypes: Record<string, string> = {
    callcode: 'call_code',
    delegatecall: 'delegate_call',
    staticcall: 'static_call',
  };
  const callType = (trace: Trace) => {
    const type = trace.type === 'call' ? trace.action.callType : undefined;
    return type && (callTypes[type] ?? type);
  };
  const from = (trace: Trace) => action('from')(trace) ?? action('address')(trace) ?? action('author')(trace);
  const value = (trace: Trace) => action('value')(trace) ?? action('balance')(trace) ?? '0x0';
  return [
    binary('action_from', from),
    binary('action_to', (trace) => action('to')(trace) ?? action('refundAddress')(trace)),
    text('action_value', (trace) => BigInt(value(trace)).toString()),
    number('action_gas', action('gas')),
    binary('action_input', action('input')),
    text('action_call_type', callType),
    binary('action_init', action('init')),
    text('action_reward_type', (trace) => (trace.type === 'reward' ? 'reward' : undefined)),
    text('action_type', ({ type }) => type),
    number('result_gas_used', result('gasUsed')),
    binary('result_output', result('output')),
    binary('result_code', result('code')),
    binary('result_address', result('address')),
    text('trace_address', ({ traceAddress }) => traceAddress.join('_')),
    number('subtraces', ({ subtraces }) => subtraces),
    number('transaction_index', ({ transactionPosition }) => transactionPosition),
    binary('transaction_hash', ({ transactionHash }) => transactionHash),
    number('block_number', ({ blockNumber }) => blockNumber),
    binary('block_hash', ({ blockHash }) => blockHash),
    text('error', (trace) => (trace.type === 'reward' ? undefined : trace.error)),
  ];
}

/** Columns of cryo's blocks; with `counted`, also the number of transactions. */
export function cryoBlocks(blocks: readonly SyntheticBlock[], counted: boolean): ColumnSource[] {
  const hex = (value: string) => Buffer.from(value.slice(2), 'hex');
  const headers = blocks.map(({ header }) => header);
  return [
    { name: 'block_hash', type: 'BYTE_ARRAY', data: headers.map(({ hash }) => hex(hash)) },
    { name: 'parent_hash', type: 'BYTE_ARRAY', data: headers.map(({ parentHash }) => hex(parentHash)) },
    { name: 'block_number', type: 'INT32', data: headers.map(({ number }) => number) },
    { name: 'timestamp', type: 'INT32', data: headers.map(({ timestamp }) => timestamp) },
    {
      name: 'gas_used',
      type: 'INT64',
      data: headers.map(({ transactionHashes }) => BigInt(transactionHashes.length)),
    },
    ...(counted
      ? [
          {
            name: 'transaction_count',
            type: 'INT32',
            data: headers.map((one) => one.transactionHashes.length),
          } as const,
        ]
      : []),
  ];
}
