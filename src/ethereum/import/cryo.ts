import { bigintOf, hashOf, numberOf, optionalNumberOf, pathOf, quantityOf, textOf } from './cells.ts';
import { type HeaderFormat, MAX_TRANSACTIONS, type Row, type TraceFormat } from './format.ts';

/** cryo's names of call types and rewards that differ from those of `trace_block`. */
const CALL_TYPES: Readonly<Record<string, string>> = {
  call_code: 'callcode',
  delegate_call: 'delegatecall',
  static_call: 'staticcall',
};
const REWARD_TYPES: Readonly<Record<string, string>> = { reward: 'block' };

/** Traces of cryo (paradigmxyz/cryo, crates/freeze/src/datasets/traces.rs). Binary columns may be hex text. */
export const CRYO_TRACES: TraceFormat = {
  name: "cryo's traces",
  marks: ['block_number', 'action_type', 'trace_address'],
  columns: [
    'block_hash',
    'transaction_hash',
    'subtraces',
    'action_from',
    'action_to',
    'action_value',
    'action_gas',
    'action_input',
    'action_init',
    'action_call_type',
    'action_reward_type',
    'result_gas_used',
    'result_output',
    'result_code',
    'result_address',
    'error',
  ],
  numberColumn: 'block_number',
  isCanonical: false,
  traceOf: (row) => ({
    blockHash: textOf(row, 'block_hash'),
    blockNumber: numberOf(row, 'block_number'),
    subtraces: numberOf(row, 'subtraces'),
    traceAddress: pathOf(row, 'trace_address', '_'),
    transactionHash: textOf(row, 'transaction_hash') ?? null,
    // Older versions of cryo call the column transaction_position.
    transactionPosition:
      optionalNumberOf(row, 'transaction_index') ?? optionalNumberOf(row, 'transaction_position') ?? null,
    type: textOf(row, 'action_type'),
    error: textOf(row, 'error'),
    action: actionOf(row),
    result: resultOf(row),
  }),
  columnOf: {
    blockHash: 'block_hash',
    transactionHash: 'transaction_hash',
    transactionPosition: 'transaction_index',
    traceAddress: 'trace_address',
    type: 'action_type',
    'action.callType': 'action_call_type',
    'action.rewardType': 'action_reward_type',
    'action.from': 'action_from',
    'action.to': 'action_to',
    'action.address': 'action_from',
    'action.author': 'action_from',
    'action.refundAddress': 'action_to',
    'action.value': 'action_value',
    'action.balance': 'action_value',
    'action.gas': 'action_gas',
    'action.input': 'action_input',
    'result.gasUsed': 'result_gas_used',
    'result.output': 'result_output',
  },
};

/** Blocks of cryo. `transaction_count` is not a column of cryo, but may be added. */
export const CRYO_HEADERS: HeaderFormat = {
  name: "cryo's blocks",
  marks: ['block_number', 'block_hash', 'timestamp'],
  columns: ['parent_hash', 'gas_used'],
  numberColumn: 'block_number',
  headerOf: (row) => ({
    number: numberOf(row, 'block_number'),
    hash: hashOf(row, 'block_hash'),
    parentHash: hashOf(row, 'parent_hash'),
    timestamp: numberOf(row, 'timestamp'),
    chainId: optionalNumberOf(row, 'chain_id'),
    transactionCount: optionalNumberOf(row, 'transaction_count', MAX_TRANSACTIONS),
    miner: textOf(row, 'author'),
    difficulty: bigintOf(row, 'difficulty'),
    gasUsed: bigintOf(row, 'gas_used'),
  }),
};

function actionOf(row: Row): object {
  const [from, to] = [textOf(row, 'action_from'), textOf(row, 'action_to')];
  const [value, gas] = [quantityOf(row, 'action_value'), quantityOf(row, 'action_gas')];
  switch (textOf(row, 'action_type')) {
    case 'call': {
      const callType = textOf(row, 'action_call_type') ?? '';
      const input = textOf(row, 'action_input');
      return { callType: CALL_TYPES[callType] ?? callType, from, gas, input, to, value };
    }
    case 'reward': {
      const rewardType = textOf(row, 'action_reward_type') ?? '';
      return { author: from, rewardType: REWARD_TYPES[rewardType] ?? rewardType, value };
    }
    case 'create':
      return { from, gas, init: textOf(row, 'action_init'), value };
    default:
      return { address: from, balance: value, refundAddress: to };
  }
}

function resultOf(row: Row): object | null {
  const gasUsed = quantityOf(row, 'result_gas_used');
  if (gasUsed === undefined) return null;
  const address = textOf(row, 'result_address');
  const [output, code] = [textOf(row, 'result_output'), textOf(row, 'result_code')];
  return address === undefined ? { gasUsed, output } : { address, code, gasUsed };
}
