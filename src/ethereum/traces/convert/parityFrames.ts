import type { Quantity, Trace } from '../index.ts';
import { checkRoots } from './checkRoots.ts';
import { type Fork, type ForkSchedule, forkAt } from './forks.ts';
import { floorGas, intrinsicGas } from './intrinsicGas.ts';
import { namePrecompileFailures } from './namePrecompileFailures.ts';
import type { BlockTransaction, FullBlock } from './parseTransactions.ts';
import { isIdlePrecompileCall, precompilesUnder } from './precompiles.ts';
import { quantity } from './quantity.ts';
import { isPrecheckFailure, removeFrames } from './removeFrames.ts';
import { restoreDestroyed } from './restoreDestroyed.ts';

/** What geth's tracers tell of a block's transactions. */
interface TracedTransactions {
  /** The frames of all of them, in order and in pre-order. */
  readonly frames: Trace[];
  /** What each used in all. */
  readonly gasUsed: readonly bigint[];
}

/**
 * Makes geth's frames of a block those that Parity has: takes away the frames that Parity does not show, and gives the
 * root frames the gas of their execution, where geth has that of the whole transaction.
 *
 * @throws BlockMismatchError where a root frame is not its transaction's.
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
    (frame) => isPrecheckFailure(frame) || isIdlePrecompileCall(frame, precompiles),
  );
}

/** Replaces each transaction's root frame in the list by one with corrected gas. */
function correctRoots(
  transactions: readonly BlockTransaction[],
  { frames, gasUsed }: TracedTransactions,
  fork: Fork,
): void {
  let position = transactions.length - 1;
  let children = 0n;
  // From the end: when a root is met, what its children used is known.
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

/** What a frame used of its creator's gas: all it had, where it failed in a way that gives nothing back. */
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
 * The gas that the root frame starts with. geth says the transaction's limit; a node that says anything else has taken
 * off what the transaction paid first, by the rules of its chain (anvil does), or has transactions that pay nothing.
 */
function rootGas(reported: Quantity, transaction: BlockTransaction, intrinsic: bigint): Quantity {
  const isLimit = BigInt(reported) === transaction.gas && transaction.gas >= intrinsic;
  return isLimit ? quantity(transaction.gas - intrinsic) : reported;
}

/**
 * The gas that a transaction's frames used, before refunds: what no tracer of geth tells. Exact where nothing was
 * refunded and the transaction paid more than its floor. Otherwise too low, by the refund or what the floor hides, and
 * never lower than what the root's children used, which is known.
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
