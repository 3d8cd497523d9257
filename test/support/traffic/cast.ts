/** Accounts and contracts of the traffic. Tests may use the accounts 0 to 3 for transactions of their own. */
import type { Address } from '../../../src/ethereum/traces/index.ts';
import { account, createdBy } from './accounts.ts';

/** Sends only the scripted blocks, so its nonce is the position in the script. */
export const DIRECTOR = account(9);
/** Send the blocks after the script. */
export const SENDERS = [account(5), account(6), account(7), account(8)] as const;
/** Sets an Actor's code in the script (EIP-7702). */
export const DELEGATOR = account(4);

/** The Actors that the first three transactions of the script create. */
export const ANNA = createdBy(DIRECTOR.address, 0);
export const BERT = createdBy(DIRECTOR.address, 1);
/** Destroys itself in the script. Since Cancun (EIP-6780) it loses only its balance. */
export const CORA = createdBy(DIRECTOR.address, 2);
export const ACTORS = [ANNA, BERT, CORA] as const;

/** Has neither code nor key. */
export const NOBODY = '0x00000000000000000000000000000000c0ffee00' as Address; // 40 lower-case hex digits

/** The precompiled contracts 1 to 9, which every fork since Istanbul has. */
export const PRECOMPILES: readonly Address[] = Array.from({ length: 9 }, (_, index) => precompile(index + 1));

export function precompile(number: number): Address {
  return `0x${number.toString(16).padStart(40, '0')}` as Address; // 40 lower-case hex digits
}
