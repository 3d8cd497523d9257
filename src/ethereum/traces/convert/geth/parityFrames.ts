import type { Quantity, Trace } from '../../index.ts';
import type { ChainRules } from '../chains/chainRules.ts';
import { type Fork, forkAt } from '../chains/forks.ts';
import { checkRoots } from '../check/checkRoots.ts';
import { quantity } from '../json/quantity.ts';
import type { FullHeader } from '../parseHeader.ts';
import type { BlockTransaction } from '../parseTransactions.ts';
import type { TracedTransactions } from './gethResult.ts';
import { floorGas, intrinsicGas } from './intrinsicGas.ts';
import { namePrecompileFailures } from './namePrecompileFailures.ts';
import { isIdleCall, isValuelessPrecompileCall, precompilesUnder } from './precompiles.ts';
import { isPrecheckFailure, removeFrames } from './removeFrames.ts';
import { restoreDestroyed } from './restoreDestroyed.ts';

/**
 * Converts geth's frames of a block to Parity's. Removes frames that Parity does not list. In root frames, geth
 * reports the gas of the whole transaction; it is replaced by the gas of the execution.
 *
 * @throws BlockMismatchError if a root frame does not match its transaction.
 */
export function parityFrames(header: FullHeader, traced: TracedTransactions, rules: ChainRules): Trace[] {
  const { frames } = traced;
  const fork = forkAt(rules, header);
  const precompiles = precompilesUnder(fork);
  checkRoots(header.number, traced, rules);
  restoreDestroyed(frames);
  namePrecompileFailures(frames, precompiles);
  correctRoots(traced, { rules, fork });
  return removeFrames(
    frames,
    (frame) =>
      isPrecheckFailure(frame) ||
      (isValuelessPrecompileCall(frame, precompiles) && !(rules.areForksAssumed && isIdleCall(frame))),
  );
}

/** Replaces the root frame of each transaction by a copy with the gas of the execution. */
function correctRoots(
  { frames, transactions, gasUsed }: TracedTransactions,
  { rules, fork }: { readonly rules: ChainRules; readonly fork: Fork },
): void {
  let position = transactions.length - 1;
  let children = 0n;
  // The order is backwards, so that the gas used by a root's children is known when the root is reached.
  for (let i = frames.length - 1; i >= 0; i--) {
    const frame = frames[i];
    if (frame === undefined) continue;
    const depth = frame.traceAddress.length;
    if (depth === 1) children += gasOf(frame);
    if (depth > 0) continue;
    const transaction = transactions[position];
    const spent = gasUsed[position];
    if (transaction && spent !== undefined && rules.systemTransaction?.matches(transaction) !== true) {
      const intrinsic = intrinsicGas(transaction, fork);
      const used = executionGas({ spent, intrinsic, floor: floorGas(transaction, fork), children });
      frames[i] = correctedRoot(frame, transaction, { intrinsic, used });
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

function correctedRoot(
  root: Trace,
  transaction: BlockTransaction,
  { intrinsic, used }: { readonly intrinsic: bigint; readonly used: bigint },
): Trace {
  const gasUsed = quantity(used);
  const gas = (reported: Quantity) => rootGas(reported, transaction, intrinsic);
  if (root.type === 'call') {
    const action = { ...root.action, gas: gas(root.action.gas) };
    return { ...root, action, result: root.result && { ...root.result, gasUsed } };
  }
  if (root.type === 'create') {
    const action = { ...root.action, gas: gas(root.action.gas) };
    return { ...root, action, result: root.result && { ...root.result, gasUsed } };
  }
  return root;
}

/**
 * Returns the initial gas of a root frame. geth reports the gas limit of the transaction, which includes the
 * intrinsic gas. If a node reports another value, it has already subtracted the intrinsic gas, as anvil does, or
 * there is none.
 */
function rootGas(reported: Quantity, transaction: BlockTransaction, intrinsic: bigint): Quantity {
  const isLimit = BigInt(reported) === transaction.gas && transaction.gas >= intrinsic;
  return isLimit ? quantity(transaction.gas - intrinsic) : reported;
}

/**
 * Returns the gas that a root frame used before refunds, which geth does not report. The result is exact if nothing
 * was refunded and the transaction used more than its minimum gas (`floor`). Otherwise it is too low, but at least
 * the gas used by the children of the root frame.
 */
function executionGas({
  spent,
  intrinsic,
  floor,
  children,
}: {
  readonly spent: bigint;
  readonly intrinsic: bigint;
  readonly floor: bigint | undefined;
  readonly children: bigint;
}): bigint {
  if (floor !== undefined && spent <= floor) return children;
  const net = spent - intrinsic;
  return net > children ? net : children;
}
