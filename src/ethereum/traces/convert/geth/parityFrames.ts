import type { Quantity, Trace } from '../../index.ts';
import { checkRoots } from '../check/checkRoots.ts';
import { type Fork, type ForkSchedule, forkAt } from '../forks.ts';
import { quantity } from '../json/quantity.ts';
import type { BlockTransaction, FullBlock } from '../parseTransactions.ts';
import { floorGas, intrinsicGas } from './intrinsicGas.ts';
import { namePrecompileFailures } from './namePrecompileFailures.ts';
import { isValuelessPrecompileCall, precompilesUnder } from './precompiles.ts';
import { isPrecheckFailure, removeFrames } from './removeFrames.ts';
import { restoreDestroyed } from './restoreDestroyed.ts';

interface TracedTransactions {
  /** Frames of all transactions, in order and in pre-order. */
  readonly frames: Trace[];
  /** Total gas used by each transaction. */
  readonly gasUsed: readonly bigint[];
}

/**
 * Converts geth's frames of a block to Parity's: removes frames that Parity does not list, and sets the gas of root
 * frames to their execution gas. geth reports the gas of the whole transaction.
 *
 * @throws BlockMismatchError if a root frame does not match its transaction.
 */
export function parityFrames(block: FullBlock, traced: TracedTransactions, schedule: ForkSchedule): Trace[] {
  const { frames } = traced;
  const fork = forkAt(schedule, block.header);
  const precompiles = precompilesUnder(fork);
  checkRoots(block, frames);
  restoreDestroyed(frames);
  namePrecompileFailures(frames, precompiles);
  correctRoots(block.transactions, traced, fork);
  return removeFrames(
    frames,
    (frame) => isPrecheckFailure(frame) || isValuelessPrecompileCall(frame, precompiles),
  );
}

/** Replaces each transaction's root frame by one with corrected gas. */
function correctRoots(
  transactions: readonly BlockTransaction[],
  { frames, gasUsed }: TracedTransactions,
  fork: Fork,
): void {
  let position = transactions.length - 1;
  let children = 0n;
  // Backwards, so that the gas of a root's children is known when the root is reached.
  for (let i = frames.length - 1; i >= 0; i--) {
    const frame = frames[i];
    if (frame === undefined) continue;
    const depth = frame.traceAddress.length;
    if (depth === 1) children += gasOf(frame);
    if (depth > 0) continue;
    const transaction = transactions[position];
    const spent = gasUsed[position];
    if (transaction && spent !== undefined) {
      const intrinsic = intrinsicGas(transaction, fork);
      const used = executionGas({ spent, intrinsic, floor: floorGas(transaction, fork), children });
      frames[i] = correctedRoot(frame, transaction, { intrinsic, used });
    }
    position--;
    children = 0n;
  }
}

/** Returns the gas that a frame used: all its gas if it failed without a result. */
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
 * Returns the root frame's initial gas. geth reports the transaction's gas limit. If a node reports another value,
 * the node has already subtracted the intrinsic gas (as anvil does), or the transaction pays none.
 */
function rootGas(reported: Quantity, transaction: BlockTransaction, intrinsic: bigint): Quantity {
  const isLimit = BigInt(reported) === transaction.gas && transaction.gas >= intrinsic;
  return isLimit ? quantity(transaction.gas - intrinsic) : reported;
}

/**
 * Returns the gas used before refunds, which geth does not report. Exact if nothing was refunded and the gas exceeds
 * the floor. Otherwise too low, but at least the gas used by the root's children.
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
