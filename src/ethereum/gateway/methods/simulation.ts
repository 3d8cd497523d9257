import { overLimit } from '../../jsonrpc/index.ts';
import { InvalidResponseError } from '../../nodes/index.ts';
import { isObject, type Kind, listOf, objectOf } from './kind.ts';
import { boolean, overrides, transaction } from './kinds.ts';
import type { RelayedRow } from './row.ts';

/** Blocks that nodes simulate at the most. */
export const MAX_SIMULATED_BLOCKS = 256;
/** Calls of all blocks together. What they may cost is bounded as for one eth_call: by the node's limit of gas, and by time. */
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

/** The first parameter of eth_simulateV1. Blocks and calls are counted before they are read, which takes longer. */
export const simulation: Kind = {
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

/** Checks that there is a result for each call. Between two blocks that were asked for nodes put empty ones. */
export const isSimulation: NonNullable<RelayedRow['check']> = ([simulated], value) => {
  const blocks = value as unknown as readonly unknown[]; // a list, as the row says
  let results = 0;
  for (const block of blocks) {
    const calls = isObject(block) ? block['calls'] : undefined;
    if (!Array.isArray(calls)) throw new InvalidResponseError('a simulated block has no list of calls');
    results += calls.length;
  }
  const { blockStateCalls = [] } = simulated as Simulation; // what the parameter's kind made
  const calls = blockStateCalls.reduce((sum, block) => sum + (block.calls?.length ?? 0), 0);
  if (results !== calls)
    throw new InvalidResponseError(`${calls} calls were to be simulated, the results of ${results} came`);
};
