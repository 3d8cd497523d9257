import { program } from '../actor.ts';
import { ANNA, BERT, CORA, DELEGATOR } from '../cast.ts';
import type { Transaction } from '../transaction.ts';
import { anna, bytes, plain, salt } from './scene.ts';

/** Gas refunds, and accounts with delegated code (EIP-7702): cases in which nodes differ. */
export const refunds: readonly Transaction[] = [
  anna(
    'storage is set',
    { kind: 'store', target: salt(7), value: 1n },
    { kind: 'store', target: salt(8), value: 1n },
  ),
  anna(
    'storage is cleared, with a refund of gas',
    { kind: 'store', target: salt(7), value: 0n },
    { kind: 'store', target: salt(8), value: 0n },
  ),
  plain('an account takes on the code of a contract', {
    type: 'eip7702',
    to: DELEGATOR.address,
    delegations: [{ account: DELEGATOR, code: BERT }],
    data: program({ kind: 'call', target: ANNA, value: 1n }),
  }),
  anna('a call to an account that took on code', {
    kind: 'call',
    target: DELEGATOR.address,
    data: program({ kind: 'call', target: CORA }, { kind: 'return', data: bytes('mine') }),
  }),
];
