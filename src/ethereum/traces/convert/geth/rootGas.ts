import type { CallTrace, CreateTrace } from '../../index.ts';
import type { BlockRules } from '../chains/blockRules.ts';
import { isForkActive } from '../chains/forks.ts';
import { REVERTED } from '../errorName.ts';
import { ZERO } from '../frame.ts';
import type { BlockTransaction } from '../parseTransactions.ts';
import { floorGas, intrinsicGas } from './intrinsicGas.ts';

/** Gas that a frame may use at most (EIP-7825). Since Amsterdam, gas above it pays for new state only. */
const MAX_EXECUTION_GAS = 16_777_216n;
/** Gas for a new account since Amsterdam (EIP-8037): 120 bytes of state. */
const NEW_ACCOUNT_GAS = 120n * 1_530n;

/** A transaction and its figures from the node. */
export interface TracedTransaction {
  readonly transaction: BlockTransaction;
  readonly root: CallTrace | CreateTrace;
  /** Gas that the whole transaction used, after refunds. */
  readonly spent: bigint;
  /** Gas that the children of the root frame used. */
  readonly children: bigint;
  /** Gas before the first step; null if no code ran, undefined if unknown. */
  readonly firstStep: bigint | null | undefined;
  /** Gas for a delegation of the recipient, if the gas floor may hide it. */
  readonly delegation?: bigint | undefined;
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
  { transaction, root, spent, firstStep, delegation }: TracedTransaction,
  { intrinsic, isAmsterdam, rules }: InitialGasRules,
): bigint {
  const limit = transaction.gas;
  if (!isAmsterdam) return limit - intrinsic;
  if (typeof firstStep === 'bigint') return firstStep;
  const forExecution = limit < MAX_EXECUTION_GAS ? limit : MAX_EXECUTION_GAS;
  const uncharged = forExecution - intrinsic;
  // A transaction that fails without a step could not pay a charge, or a precompiled contract failed.
  if (firstStep === undefined || root.error !== undefined) return uncharged;
  const charged = chargedBefore({ transaction, spent, delegation, intrinsic, rules });
  const forState = limit - forExecution;
  if (charged < NEW_ACCOUNT_GAS) return uncharged - charged;
  return charged > forState ? uncharged - (charged - forState) : uncharged;
}

/** Returns the gas that a transaction without code paid after its intrinsic gas, before its root frame. */
function chargedBefore({
  transaction,
  spent,
  delegation = 0n,
  intrinsic,
  rules,
}: Pick<TracedTransaction, 'transaction' | 'spent' | 'delegation'> &
  Omit<InitialGasRules, 'isAmsterdam'>): bigint {
  const floor = floorGas(transaction, rules.fork) ?? 0n;
  const charged = spent > floor ? spent - intrinsic : delegation;
  if (transaction.to === null || !rules.precompiles.has(transaction.to)) return charged;
  // The other gas was used by the precompiled contract.
  return transaction.value !== ZERO && charged >= NEW_ACCOUNT_GAS ? NEW_ACCOUNT_GAS : 0n;
}
