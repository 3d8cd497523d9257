import type { Address, Data, Hash } from '../../index.ts';
import { type BlockRules, blockRulesAt } from '../chains/blockRules.ts';
import type { ChainRules } from '../chains/chainRules.ts';
import { ZERO } from '../frame.ts';
import { TraceFormatError } from '../json/traceFormatError.ts';
import type { BlockTransaction, FullBlock } from '../parseTransactions.ts';
import { readFirstStep, readFirstSteps } from './firstSteps.ts';
import { floorGas, intrinsicGas } from './intrinsicGas.ts';
import { MAX_EXECUTION_GAS, NEW_ACCOUNT_GAS } from './stateGas.ts';

/**
 * Since Amsterdam, a transaction pays runtime charges (EIP-2780) after its intrinsic gas and before its root frame: for
 * each authorization, then for its recipient. If no code runs, the gas that it used usually shows them. This file finds
 * the other transactions, and the calls whose traces show the charges.
 */

/** Gas for the first write of an account by an authorization, as in go-ethereum 1.17.8. */
const ACCOUNT_WRITE_GAS = 9_000n;
/** More gas than an authorization or a recipient costs: a write, a new account and its delegation. */
const MAX_CHARGE_GAS = 250_000n;
/** A recipient without charges, and the gas that it uses for empty input. */
const IDENTITY = { address: '0x0000000000000000000000000000000000000004' as Address, gas: 15n };
const NO_DATA = '0x' as Data; // zero bytes
/** An address without code for precompiled contracts that calls must not run. */
const UNUSED_ADDRESS = '0xffffffffffffffffffffffffffffffffffffffff';

/** A transaction whose runtime charges are unknown. */
export interface HiddenCharges {
  readonly transaction: BlockTransaction;
  readonly index: number;
  /** Whether there is a charge only if the recipient delegates to an account without code (EIP-7702). */
  readonly onlyIfDelegated: boolean;
}

/** Call for `debug_traceCall` in the state before a transaction. */
export interface ChargeCall {
  readonly transaction: object;
  readonly stateOverrides?: object;
  readonly limit: bigint;
  /** Gas that the call uses without runtime charges. */
  readonly otherGas: bigint;
}

/** Returns the transactions whose runtime charges the results of the step logger do not show. */
export function hiddenCharges(block: FullBlock, rules: ChainRules): readonly HiddenCharges[] {
  const ofBlock = blockRulesAt(rules, block.header);
  const results = readFirstSteps(block, rules) ?? [];
  return block.transactions.flatMap((transaction, index): HiddenCharges[] => {
    const { to, value, authorizations } = transaction;
    const result = results[index];
    if (result === undefined || result.gas !== null || to === null) return [];
    const intrinsic = intrinsicGas(transaction, ofBlock.fork);
    const floor = floorGas(transaction, ofBlock.fork) ?? 0n;
    const isAtFloor = result.spent <= floor && floor > intrinsic;
    const isPrecompile = ofBlock.precompiles.has(to);
    const isHidden = isAtFloor || isPrecompile;
    if (authorizations.length > 0)
      return isHidden || result.failed || transaction.gas > MAX_EXECUTION_GAS
        ? [{ transaction, index, onlyIfDelegated: false }]
        : [];
    if (isHidden && value !== ZERO && result.spent - intrinsic >= NEW_ACCOUNT_GAS)
      return [{ transaction, index, onlyIfDelegated: false }];
    return isAtFloor && !isPrecompile && !result.failed
      ? [{ transaction, index, onlyIfDelegated: true }]
      : [];
  });
}

/**
 * Returns the calls that show the runtime charges of a transaction. They have no input, so that the gas floor is below
 * their intrinsic gas. With authorizations, there are two calls for each number of them: to the recipient and to a
 * recipient without charges.
 */
export function chargeCalls(
  sent: BlockTransaction,
  { fork, precompiles }: BlockRules,
): readonly ChargeCall[] {
  const { from, to, value, authorizations, accessList } = sent;
  const call = (to: Address | null, value: BlockTransaction['value'], count: number) => {
    const members = { from, to, value, authorizations: authorizations.slice(0, count) };
    const intrinsic = intrinsicGas({ ...sent, ...members, input: NO_DATA, accessListKeys: 0 }, fork);
    const limit = intrinsic + MAX_CHARGE_GAS * BigInt(count + 1);
    const transaction = {
      from,
      to,
      value,
      gas: `0x${limit.toString(16)}`,
      ...(accessList.length > 0 && {
        accessList: accessList.map((address) => ({ address, storageKeys: [] })),
      }),
      ...(count > 0 && { authorizationList: members.authorizations }),
    };
    return { transaction, limit, otherGas: intrinsic };
  };
  const toRecipient = (count: number): ChargeCall => ({
    ...call(to, value, count),
    ...(to !== null &&
      precompiles.has(to) && { stateOverrides: { [to]: { movePrecompileToAddress: UNUSED_ADDRESS } } }),
  });
  const toIdentity = (count: number): ChargeCall => {
    const plain = call(IDENTITY.address, ZERO, count);
    return { ...plain, otherGas: plain.otherGas + IDENTITY.gas };
  };
  if (authorizations.length === 0) return [toRecipient(0)];
  return authorizations.flatMap((_, i) => [toRecipient(i + 1), toIdentity(i + 1)]);
}

/**
 * Returns the runtime charges of transactions in the order of payment, by transaction hash, from the results of their
 * `chargeCalls`. A charge that a transaction could not pay is included.
 *
 * @throws TraceFormatError if a result is malformed.
 */
export function readRuntimeCharges(
  { header, transactions, chargeTraces }: FullBlock,
  rules: ChainRules,
): ReadonlyMap<Hash, readonly bigint[]> {
  const charges = new Map<Hash, readonly bigint[]>();
  if (chargeTraces === undefined) return charges;
  const ofBlock = blockRulesAt(rules, header);
  for (const [index, transaction] of transactions.entries()) {
    const results = chargeTraces.get(transaction.hash);
    if (results === undefined) continue;
    const paid = chargeCalls(transaction, ofBlock).map((call, i) => paidBy(call, results[i], index));
    charges.set(transaction.hash, transaction.authorizations.length === 0 ? paid : separate(paid));
  }
  return charges;
}

/** Returns the runtime charges of a call from its result of the step logger. */
function paidBy({ limit, otherGas }: ChargeCall, result: unknown, index: number): bigint {
  const { gas, spent, failed } = readFirstStep(result, {
    what: 'call for the charges of transaction',
    index,
  });
  const paid = gas === null ? spent - otherGas : limit - otherGas - gas;
  if (paid >= 0n && (gas !== null || !failed)) return paid;
  throw new TraceFormatError({ what: 'call for the charges of transaction', index }, 'gas', {
    expected: `of a call that pays at least ${otherGas}`,
    got: Number(spent),
  });
}

/** Returns each charge, from the sums with the recipient and without it. */
function separate(paid: readonly bigint[]): readonly bigint[] {
  const charges: bigint[] = [];
  let before = 0n;
  let withRecipient = 0n;
  for (let i = 0; i + 1 < paid.length; i += 2) {
    const [own = 0n, other = 0n] = paid.slice(i, i + 2);
    // An authorization of the recipient pays no write if the value of the transaction has paid it.
    const sum = own < other ? other - ACCOUNT_WRITE_GAS : other;
    charges.push(sum - before);
    before = sum;
    withRecipient = own;
  }
  return [...charges, withRecipient - before];
}
