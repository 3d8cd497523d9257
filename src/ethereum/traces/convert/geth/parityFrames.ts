import type { CallTrace, CreateTrace, Quantity, Trace } from '../../index.ts';
import { type BlockRules, blockRulesAt } from '../chains/blockRules.ts';
import type { ChainRules } from '../chains/chainRules.ts';
import { checkRoots } from '../check/checkRoots.ts';
import { quantity } from '../json/quantity.ts';
import type { FullBlock } from '../parseTransactions.ts';
import { readFirstSteps } from './firstSteps.ts';
import type { TracedTransactions } from './gethResult.ts';
import { namePrecompileFailures } from './namePrecompileFailures.ts';
import { ranPrecompile } from './ranPrecompile.ts';
import { isPrecheckFailure, removeFrames } from './removeFrames.ts';
import { restoreDestroyed } from './restoreDestroyed.ts';
import { rootGasOf } from './rootGas.ts';
import { readRuntimeCharges } from './runtimeCharges.ts';

/**
 * Converts geth's frames of a block to Parity's. Removes frames that Parity does not list. In root frames, geth
 * reports the gas of the whole transaction; it is replaced by the gas of the execution.
 *
 * @throws BlockMismatchError if a root frame does not match its transaction.
 */
export function parityFrames(block: FullBlock, traced: TracedTransactions, rules: ChainRules): Trace[] {
  const { frames } = traced;
  const ofBlock = blockRulesAt(rules, block.header);
  checkRoots(block.header.number, traced, rules);
  restoreDestroyed(frames);
  namePrecompileFailures(frames, ofBlock.precompiles);
  const [firstSteps, charges] = [readFirstSteps(block, rules), readRuntimeCharges(block, rules)];
  correctRoots(traced, { rules, ofBlock, firstSteps, charges });
  return removeFrames(frames, (frame) => isPrecheckFailure(frame) || ranPrecompile(frame, ofBlock));
}

interface Correction {
  readonly rules: ChainRules;
  readonly ofBlock: BlockRules;
  readonly firstSteps: ReturnType<typeof readFirstSteps>;
  readonly charges: ReturnType<typeof readRuntimeCharges>;
}

/** Replaces the root frame of each transaction by a copy with the gas of the execution. */
function correctRoots(
  { frames, transactions, gasUsed }: TracedTransactions,
  { rules, ofBlock, firstSteps, charges }: Correction,
): void {
  let position = transactions.length - 1;
  let children = 0n;
  // The order is backwards, so that the gas used by a root's children is known when the root is reached.
  for (let i = frames.length - 1; i >= 0; i--) {
    const root = frames[i];
    if (root === undefined) continue;
    const depth = root.traceAddress.length;
    if (depth === 1) children += gasOf(root);
    if (depth > 0) continue;
    const transaction = transactions[position];
    const spent = gasUsed[position];
    const isOfNetwork = transaction !== undefined && rules.systemTransaction?.matches(transaction) === true;
    if (
      transaction &&
      spent !== undefined &&
      !isOfNetwork &&
      (root.type === 'call' || root.type === 'create')
    ) {
      const firstStep = firstSteps?.[root.transactionPosition ?? -1];
      const gas = { spent, children, firstStep, charges: charges.get(transaction.hash) };
      const corrected = rootGasOf({ transaction, root, ...gas }, ofBlock);
      frames[i] = withGas(root, quantity(corrected.gas), quantity(corrected.gasUsed));
    }
    position--;
    children = 0n;
  }
}

/** Returns the gas that a frame used. A frame that failed without a result used all its gas. */
function gasOf(frame: Trace): bigint {
  if (frame.type === 'suicide' || frame.type === 'reward' || isPrecheckFailure(frame)) return 0n;
  return BigInt(frame.result?.gasUsed ?? frame.action.gas);
}

function withGas(root: CallTrace | CreateTrace, gas: Quantity, gasUsed: Quantity): Trace {
  if (root.type === 'call')
    return { ...root, action: { ...root.action, gas }, result: root.result && { ...root.result, gasUsed } };
  return { ...root, action: { ...root.action, gas }, result: root.result && { ...root.result, gasUsed } };
}
