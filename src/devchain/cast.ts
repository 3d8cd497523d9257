/** Who plays in the development chain's traffic. The accounts 0 to 3 are left to the user. */
import type { Address } from '../ethereum/traces/index.ts';
import { account, createdBy } from './accounts.ts';

/** Sends the scripted blocks, and nothing else: its nonce tells how far the script has come. */
export const DIRECTOR = account(9);
/** Send what comes after the script. */
export const SENDERS = [account(5), account(6), account(7), account(8)] as const;
/** Takes on an Actor's code in the script (EIP-7702). */
export const DELEGATOR = account(4);

/** The Actors that the first three transactions of the script create. */
export const ANNA = createdBy(DIRECTOR.address, 0);
export const BERT = createdBy(DIRECTOR.address, 1);
/** Destroys itself in the script. Since Cancun it stays on all the same, without its balance (EIP-6780). */
export const CORA = createdBy(DIRECTOR.address, 2);
export const ACTORS = [ANNA, BERT, CORA] as const;

/** Has neither code nor key. */
export const NOBODY = '0x00000000000000000000000000000000c0ffee00' as Address; // 40 lower-case hex digits

/** The precompiled contracts that each fork has had since Istanbul, 1 to 9. */
export const PRECOMPILES: readonly Address[] = Array.from({ length: 9 }, (_, index) => precompile(index + 1));

export function precompile(number: number): Address {
  return `0x${number.toString(16).padStart(40, '0')}` as Address; // 40 lower-case hex digits
}
