import type { Trace } from '../ethereum/traces/index.ts';

const COLUMNS = [
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
] as const;

export const CSV_HEADER = COLUMNS.join(',');

/** A trace as a row of CSV (RFC 4180), without the line's end; `traceAddress` as numbers joined by dots. */
export function csvRow(trace: Trace): string {
  const { blockNumber, blockHash, transactionPosition, transactionHash, type, subtraces } = trace;
  const place = { blockNumber, blockHash, transactionPosition, transactionHash, type, subtraces };
  const error = 'error' in trace ? trace.error : undefined;
  const row: Partial<Record<(typeof COLUMNS)[number], string | number | null | undefined>> = {
    ...place,
    error,
    ...partsOf(trace),
    traceAddress: trace.traceAddress.join('.'),
  };
  return COLUMNS.map((column) => quoted(String(row[column] ?? ''))).join(',');
}

function partsOf(trace: Trace): Partial<Record<(typeof COLUMNS)[number], string>> {
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

/** An error's text may hold anything; a cell that begins like a formula must not be one. */
function quoted(text: string): string {
  const safe = /^[=+@-]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
