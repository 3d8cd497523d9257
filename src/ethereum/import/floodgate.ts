import { TRACE_FAILURES, type TraceFailure } from '../traces/index.ts';
import {
  CellError,
  hashOf,
  numberOf,
  optionalNumberOf,
  pathOf,
  quantityOf,
  quoted,
  textOf,
} from './cells.ts';
import type { HeaderFormat, Row, TraceFormat } from './format.ts';

/** NDJSON of `floodgate export`: each row is a trace. */
export const FLOODGATE_JSON: TraceFormat = {
  name: "NDJSON of Floodgate's traces",
  marks: ['action', 'traceAddress', 'blockNumber'],
  columns: [],
  numberColumn: 'blockNumber',
  isCanonical: true,
  traceOf: (row) => row,
  columnOf: {},
};

/** CSV and Parquet of `floodgate export`. */
export const FLOODGATE_TABLE: TraceFormat = {
  name: "a table of Floodgate's traces",
  marks: ['blockNumber', 'traceAddress', 'kind'],
  columns: [
    'blockHash',
    'transactionPosition',
    'transactionHash',
    'type',
    'from',
    'to',
    'value',
    'gas',
    'gasUsed',
    'input',
    'output',
    'error',
    'subtraces',
  ],
  numberColumn: 'blockNumber',
  isCanonical: true,
  traceOf: (row) => ({ ...placementOf(row), ...partsOf(row) }),
  columnOf: {
    'action.callType': 'kind',
    'action.creationMethod': 'kind',
    'action.rewardType': 'kind',
    'action.from': 'from',
    'action.address': 'from',
    'action.to': 'to',
    'action.author': 'to',
    'action.refundAddress': 'to',
    'result.address': 'to',
    'action.value': 'value',
    'action.balance': 'value',
    'action.gas': 'gas',
    'result.gasUsed': 'gasUsed',
    'action.input': 'input',
    'action.init': 'input',
    'result.output': 'output',
    'result.code': 'output',
  },
};

/** Headers of `floodgate export --headers`, in each of its formats. */
export const FLOODGATE_HEADERS: HeaderFormat = {
  name: "Floodgate's block headers",
  marks: ['blockNumber', 'parentHash'],
  columns: ['blockHash', 'timestamp', 'traceCount', 'chainId', 'genesisHash'],
  numberColumn: 'blockNumber',
  headerOf: (row) => ({
    number: numberOf(row, 'blockNumber'),
    hash: hashOf(row, 'blockHash'),
    parentHash: hashOf(row, 'parentHash'),
    timestamp: numberOf(row, 'timestamp'),
    traceCount: numberOf(row, 'traceCount'),
    unavailable: unavailableOf(row),
    chainId: numberOf(row, 'chainId'),
    genesisHash: hashOf(row, 'genesisHash'),
  }),
};

function unavailableOf(row: Row): TraceFailure | undefined {
  const text = textOf(row, 'unavailable');
  if (text === undefined) return undefined;
  const failure = TRACE_FAILURES.find((known) => known === text);
  if (failure === undefined)
    throw new CellError('unavailable', `empty or ${TRACE_FAILURES.join(', ')}`, quoted(text));
  return failure;
}

const placementOf = (row: Row): object => ({
  blockHash: textOf(row, 'blockHash'),
  blockNumber: numberOf(row, 'blockNumber'),
  subtraces: numberOf(row, 'subtraces'),
  traceAddress: pathOf(row, 'traceAddress', '.'),
  transactionHash: textOf(row, 'transactionHash') ?? null,
  transactionPosition: optionalNumberOf(row, 'transactionPosition') ?? null,
  type: textOf(row, 'type'),
});

function partsOf(row: Row): object {
  const [kind, from, to] = [textOf(row, 'kind'), textOf(row, 'from'), textOf(row, 'to')];
  const [value, gas, gasUsed] = [
    quantityOf(row, 'value'),
    quantityOf(row, 'gas'),
    quantityOf(row, 'gasUsed'),
  ];
  const [input, output] = [textOf(row, 'input'), textOf(row, 'output')];
  const isCsv = typeof row['subtraces'] === 'string';
  // In CSV, an apostrophe precedes a text that spreadsheets would run.
  const error = isCsv ? textOf(row, 'error')?.replace(/^'(?='*[=+@-])/, '') : textOf(row, 'error');
  switch (textOf(row, 'type')) {
    case 'call':
      return {
        action: { callType: kind, from, gas, input, to, value },
        error,
        result: gasUsed === undefined ? null : { gasUsed, output },
      };
    case 'create': {
      const result = to === undefined ? { gasUsed, output } : { address: to, code: output, gasUsed };
      return {
        action: { creationMethod: kind, from, gas, init: input, value },
        error,
        result: gasUsed === undefined ? null : result,
      };
    }
    case 'suicide':
      return { action: { address: from, balance: value, refundAddress: to }, error };
    default:
      return { action: { author: to, rewardType: kind, value } };
  }
}
