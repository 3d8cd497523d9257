import type { Trace } from '../../index.ts';
import type { ChainRules } from '../chains/chainRules.ts';
import type { FullBlock } from '../parseTransactions.ts';
import { CallFrameReader } from './callFrameReader.ts';
import { resultsByTransaction, type TracedTransactions } from './gethResult.ts';
import { parityFrames } from './parityFrames.ts';

/**
 * Converts a result of geth's `callTracer` to the canonical traces of a block's transactions. The result has no
 * rewards; `blockRewards` returns them. docs/reference/nodes.md lists the values that are exact.
 *
 * @param answer the parsed `result` of `debug_traceBlockByNumber` or `debug_traceBlockByHash`.
 * @throws TraceFormatError if the result is malformed, BlockMismatchError if it belongs to another block.
 */
export function fromCallTracer(block: FullBlock, answer: unknown, rules: ChainRules): Trace[] {
  const traced: TracedTransactions = { frames: [], transactions: [], gasUsed: [] };
  resultsByTransaction(block, answer, rules).forEach((root, position) => {
    const transaction = block.transactions[position];
    if (root === undefined || transaction === undefined) return;
    const gas = new CallFrameReader(block, position, traced.frames, rules).read(root);
    if (gas === undefined) return;
    traced.transactions.push(transaction);
    traced.gasUsed.push(gas);
  });
  const gasUsed = perTransaction(traced.gasUsed, block.header.gasUsed);
  return parityFrames(block, { ...traced, gasUsed }, rules);
}

/**
 * Returns the gas used by each transaction. anvil 1.7 reports cumulative gas instead: its last value is the gas used
 * by the block, and the sum of its values is higher.
 */
function perTransaction(reported: bigint[], blockGasUsed: bigint): bigint[] {
  const sum = reported.reduce((total, gas) => total + gas, 0n);
  const isRunningTotal = sum > blockGasUsed && reported.at(-1) === blockGasUsed;
  return isRunningTotal ? reported.map((total, i) => total - (reported[i - 1] ?? 0n)) : reported;
}
