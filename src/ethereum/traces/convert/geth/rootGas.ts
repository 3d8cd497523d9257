import type { CallTrace, CreateTrace } from '../../index.ts';
import type { BlockRules } from '../chains/blockRules.ts';
import { isForkActive } from '../chains/forks.ts';
import { REVERTED } from '../errorName.ts';
import { ZERO } from '../frame.ts';
import type { BlockTransaction } from '../parseTransactions.ts';
import type { FirstStep } from './firstSteps.ts';
import { floorGas, intrinsicGas } from './intrinsicGas.ts';
import { MAX_EXECUTION_GAS, NEW_ACCOUNT_GAS, stateGasIn } from './stateGas.ts';

/** A transaction and its figures from the node. */
export interface TracedTransaction {
  readonly transaction: BlockTransaction;
  readonly root: CallTrace | CreateTrace;
  /** Gas that the whole transaction used, after refunds. */
  readonly spent: bigint;
  /** Gas that the children of the root frame used. */
  readonly children: bigint;
  /** Result of the step logger. */
  readonly firstStep: FirstStep | undefined;
  /** Runtime charges, if the other figures do not show them. */
  readonly charges?: readonly bigint[] | undefined;
}

interface RootGas {
  readonly gas: bigint;
  readonly gasUsed: bigint;
}

/**
 * Returns the gas of a root frame as Parity reports it. geth reports the gas limit of the transaction, and the gas
 * that the whole transaction used.
 *
 * `gas` is the gas limit minus the intrinsic gas and, since Amsterdam, minus the charges for state before the first
 * frame. `gasUsed` is exact if nothing was refunded, the transaction used more than its minimum gas, and it created no
 * state. Otherwise it is too low, but before Amsterdam at least the gas that the children of the root frame used.
 */
export function rootGasOf(traced: TracedTransaction, rules: BlockRules): RootGas {
  const { transaction, root, spent, children } = traced;
  const intrinsic = intrinsicGas(transaction, rules.fork);
  const isAmsterdam = isForkActive('amsterdam', rules.fork);
  const reported = BigInt(root.action.gas);
  // If a node reports another value, it has already subtracted the intrinsic gas, as anvil does, or there is none.
  const isLimit = reported === transaction.gas && transaction.gas >= intrinsic;
  const gas = isLimit ? initialGas(traced, { intrinsic, isAmsterdam, rules }) : reported;
  const floor = floorGas(transaction, rules.fork);
  // The charge for a new contract is refunded if the creation reverts.
  const isRefunded = root.type === 'create' && root.error === REVERTED;
  const before = isAmsterdam && isLimit && !isRefunded ? transaction.gas - gas : intrinsic;
  const net = spent - before;
  // Since Amsterdam, a frame may get back gas for state that its children paid, so that it used less than they did.
  const least = isAmsterdam ? 0n : children;
  const isTooLow = net < least || (floor !== undefined && spent <= floor);
  return { gas, gasUsed: isTooLow ? least : net };
}

interface InitialGasRules {
  readonly intrinsic: bigint;
  readonly isAmsterdam: boolean;
  readonly rules: BlockRules;
}

function initialGas(
  { transaction, root, spent, firstStep, charges }: TracedTransaction,
  { intrinsic, isAmsterdam, rules }: InitialGasRules,
): bigint {
  const limit = transaction.gas;
  if (!isAmsterdam) return limit - intrinsic;
  if (typeof firstStep?.gas === 'bigint') return firstStep.gas;
  const forState = limit > MAX_EXECUTION_GAS ? limit - MAX_EXECUTION_GAS : 0n;
  const uncharged = limit - forState - intrinsic;
  if (charges !== undefined) return gasAfter(charges, { execution: uncharged, state: forState });
  // A transaction that fails without a step could not pay a charge, or a precompiled contract failed.
  if (firstStep === undefined || root.error !== undefined) return uncharged;
  const charged = chargedBefore({ transaction, spent, intrinsic, rules });
  if (charged < NEW_ACCOUNT_GAS) return uncharged - charged;
  return charged > forState ? uncharged - (charged - forState) : uncharged;
}

/** Returns the gas that is left after the charges in their order, up to the first one that it does not cover. */
function gasAfter(charges: readonly bigint[], budget: { execution: bigint; state: bigint }): bigint {
  let { execution, state } = budget;
  for (const charge of charges) {
    const missing = stateGasIn(charge) - state;
    const needed = charge - stateGasIn(charge) + (missing > 0n ? missing : 0n);
    if (needed > execution) break;
    execution -= needed;
    state = missing > 0n ? 0n : -missing;
  }
  return execution;
}

/** Returns the gas that a transaction without code paid after its intrinsic gas, before its root frame. */
function chargedBefore({
  transaction,
  spent,
  intrinsic,
  rules,
}: Pick<TracedTransaction, 'transaction' | 'spent'> & Omit<InitialGasRules, 'isAmsterdam'>): bigint {
  const floor = floorGas(transaction, rules.fork) ?? 0n;
  const charged = spent > floor ? spent - intrinsic : 0n;
  if (transaction.to === null || !rules.precompiles.has(transaction.to)) return charged;
  // The other gas was used by the precompiled contract.
  return transaction.value !== ZERO && charged >= NEW_ACCOUNT_GAS ? NEW_ACCOUNT_GAS : 0n;
}
