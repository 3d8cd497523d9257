import { bigintOf, hashOf, numberOf, optionalNumberOf, pathOf, quantityOf, textOf } from './cells.ts';
import { type HeaderFormat, MAX_TRANSACTIONS, type Row, type TraceFormat } from './format.ts';

/** Rows that are not traces: balances of the genesis block, and transfers of the DAO fork. */
const NOT_TRACES: readonly (string | undefined)[] = ['genesis', 'daofork'];

/** Traces of ethereum-etl (blockchain-etl/ethereum-etl, ethereumetl/jobs/exporters/traces_item_exporter.py). */
export const ETL_TRACES: TraceFormat = {
  name: "ethereum-etl's traces",
  marks: ['block_number', 'trace_type', 'trace_address'],
  columns: [
    'transaction_hash',
    'transaction_index',
    'from_address',
    'to_address',
    'value',
    'input',
    'output',
    'call_type',
    'reward_type',
    'gas',
    'gas_used',
    'subtraces',
    'error',
  ],
  numberColumn: 'block_number',
  isCanonical: false,
  traceOf(row, header) {
    const type = textOf(row, 'trace_type');
    if (NOT_TRACES.includes(type)) return undefined;
    return {
      blockHash: header.hash,
      blockNumber: numberOf(row, 'block_number'),
      subtraces: numberOf(row, 'subtraces'),
      traceAddress: pathOf(row, 'trace_address', ','),
      transactionHash: textOf(row, 'transaction_hash') ?? null,
      transactionPosition: optionalNumberOf(row, 'transaction_index') ?? null,
      type,
      error: textOf(row, 'error'),
      action: actionOf(row, type),
      result: resultOf(row, type),
    };
  },
  columnOf: {
    transactionHash: 'transaction_hash',
    transactionPosition: 'transaction_index',
    type: 'trace_type',
    traceAddress: 'trace_address',
    'action.callType': 'call_type',
    'action.rewardType': 'reward_type',
    'action.from': 'from_address',
    'action.address': 'from_address',
    'action.to': 'to_address',
    'action.author': 'to_address',
    'action.refundAddress': 'to_address',
    'action.value': 'value',
    'action.balance': 'value',
    'action.gas': 'gas',
    'action.input': 'input',
    'result.output': 'output',
    'result.gasUsed': 'gas_used',
  },
};

/** Blocks of ethereum-etl. */
export const ETL_HEADERS: HeaderFormat = {
  name: "ethereum-etl's blocks",
  marks: ['number', 'parent_hash'],
  columns: ['hash', 'timestamp', 'transaction_count', 'miner', 'difficulty', 'gas_used'],
  numberColumn: 'number',
  headerOf: (row) => ({
    number: numberOf(row, 'number'),
    hash: hashOf(row, 'hash'),
    parentHash: hashOf(row, 'parent_hash'),
    timestamp: numberOf(row, 'timestamp'),
    transactionCount: numberOf(row, 'transaction_count', MAX_TRANSACTIONS),
    miner: textOf(row, 'miner'),
    difficulty: bigintOf(row, 'difficulty'),
    gasUsed: bigintOf(row, 'gas_used'),
  }),
};

function actionOf(row: Row, type: string | undefined): object {
  const [from, to, value] = [
    textOf(row, 'from_address'),
    textOf(row, 'to_address'),
    quantityOf(row, 'value'),
  ];
  const [gas, input] = [quantityOf(row, 'gas'), textOf(row, 'input')];
  switch (type) {
    case 'call':
      return { callType: textOf(row, 'call_type'), from, gas, input, to, value };
    case 'create':
      return { from, gas, init: input, value };
    case 'reward':
      return { author: to, rewardType: textOf(row, 'reward_type'), value };
    default:
      return { address: from, balance: value, refundAddress: to };
  }
}

function resultOf(row: Row, type: string | undefined): object | null {
  const gasUsed = quantityOf(row, 'gas_used');
  if (gasUsed === undefined) return null;
  const output = textOf(row, 'output');
  return type === 'create'
    ? { address: textOf(row, 'to_address'), code: output, gasUsed }
    : { gasUsed, output };
}
