import { overLimit } from '../../jsonrpc/index.ts';
import { InvalidResponseError } from '../../nodes/index.ts';
import { isObject, listOf, objectOf, type ParamType } from './paramType.ts';
import { boolean, overrides, transaction } from './paramTypes.ts';
import type { RelayedRow } from './row.ts';

/** Maximum number of blocks in a call of eth_simulateV1. Nodes allow no more. */
export const MAX_SIMULATED_BLOCKS = 256;
/** Maximum number of simulated calls in all blocks. The node's gas limit and the timeout bound the cost of each. */
export const MAX_SIMULATED_CALLS = 1000;

interface Simulation {
  readonly blockStateCalls?: ReadonlyArray<{ readonly calls?: readonly unknown[] }>;
}

const object = objectOf('an object, for example {"blockStateCalls":[{"calls":[{"to":"0x…"}]}]}', {
  blockStateCalls: listOf(
    objectOf('an object with calls, blockOverrides and stateOverrides', {
      calls: listOf(transaction, MAX_SIMULATED_CALLS),
      blockOverrides: overrides,
      stateOverrides: overrides,
    }),
    MAX_SIMULATED_BLOCKS,
  ),
  traceTransfers: boolean,
  validation: boolean,
  returnFullTransactions: boolean,
});

/** First parameter of eth_simulateV1. Blocks and calls are counted before the conversion, which takes longer. */
export const simulation: ParamType = {
  allowed: object.allowed,
  read(value, path) {
    const blocks = isObject(value) ? value['blockStateCalls'] : undefined;
    if (Array.isArray(blocks)) checkCounts(blocks);
    return object.read(value, path);
  },
};

function checkCounts(blocks: readonly unknown[]): void {
  if (blocks.length > MAX_SIMULATED_BLOCKS)
    throw overLimit('blocks of a simulation', MAX_SIMULATED_BLOCKS, blocks.length);
  let calls = 0;
  for (const block of blocks)
    if (isObject(block) && Array.isArray(block['calls'])) calls += block['calls'].length;
  if (calls > MAX_SIMULATED_CALLS) throw overLimit('calls of a simulation', MAX_SIMULATED_CALLS, calls);
}

/** Checks that there is one result per simulated call, over all blocks, because nodes insert empty blocks. */
export const isSimulation: NonNullable<RelayedRow['check']> = ([simulated], value) => {
  const blocks = value as unknown as readonly unknown[]; // the result was checked to be a list
  let results = 0;
  for (const block of blocks) {
    const calls = isObject(block) ? block['calls'] : undefined;
    if (!Array.isArray(calls)) throw new InvalidResponseError('a simulated block has no list of calls');
    results += calls.length;
  }
  const { blockStateCalls = [] } = simulated as Simulation; // validated by the parameter type
  const calls = blockStateCalls.reduce((sum, block) => sum + (block.calls?.length ?? 0), 0);
  if (results !== calls)
    throw new InvalidResponseError(`expected the results of ${calls} calls, got ${results}`);
};
