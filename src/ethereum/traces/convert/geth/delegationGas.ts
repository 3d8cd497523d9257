import type { Address, Hash } from '../../index.ts';
import { blockRulesAt } from '../chains/blockRules.ts';
import type { ChainRules } from '../chains/chainRules.ts';
import type { BlockTransaction, FullBlock } from '../parseTransactions.ts';
import { readFirstSteps } from './firstSteps.ts';

/** Code of an account that delegates to another (EIP-7702). */
const DELEGATION = /^0xef0100(?<target>[0-9a-f]{40})$/i;
/** Gas to load the code of a delegation's target since Amsterdam, as in go-ethereum 1.17.8. */
const WARM_GAS = 100n;
const COLD_GAS = 3_000n;

/**
 * Returns the transactions for which only the code of their recipient shows whether they paid for a delegation: no code
 * ran, and their data may cost the gas floor. The code is that after the parent block. Transactions from the first
 * authorization on are excluded, because it may change this code.
 */
export function transactionsAtFloor(block: FullBlock, rules: ChainRules): readonly BlockTransaction[] {
  const { transactions } = block;
  const steps = readFirstSteps(block, rules);
  const authorization = transactions.findIndex(({ authorizations }) => authorizations > 0);
  const end = authorization < 0 ? transactions.length : authorization;
  return transactions.filter(
    ({ to, input }, i) => i < end && steps?.[i] === null && to !== null && input !== '0x',
  );
}

/** Returns the gas that these transactions paid for a delegation of their recipient, by transaction hash. */
export function delegationGasOf(block: FullBlock, rules: ChainRules): ReadonlyMap<Hash, bigint> {
  const { header, recipientCodes } = block;
  const paid = new Map<Hash, bigint>();
  if (recipientCodes === undefined) return paid;
  const { precompiles } = blockRulesAt(rules, header);
  for (const { hash, from, to, accessList } of transactionsAtFloor(block, rules)) {
    const target = DELEGATION.exec(String(to && recipientCodes.get(to)))?.groups?.['target'];
    if (target === undefined) continue;
    const address = `0x${target.toLowerCase()}` as Address; // 20 bytes in hex
    const isWarm = precompiles.has(address) || [from, to, header.miner, ...accessList].includes(address);
    paid.set(hash, isWarm ? WARM_GAS : COLD_GAS);
  }
  return paid;
}
