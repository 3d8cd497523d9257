import { constructing, deploying } from '../actor.ts';
import { ANNA, BERT } from '../cast.ts';
import type { Transaction } from '../transaction.ts';
import { bytes, ETHER, LIVES, plain, raw } from './scene.ts';

/** Transactions that create contracts, the Actors first, or fail to create one. */
export const deployments: readonly Transaction[] = [
  plain('a transaction creates a contract (legacy)', { type: 'legacy', value: LIVES, data: deploying() }),
  plain('a transaction creates a contract (fee cap)', { type: 'eip1559', value: LIVES, data: deploying() }),
  plain('a transaction creates a contract (access list)', {
    type: 'eip2930',
    value: LIVES,
    data: deploying(),
  }),
  plain('a transaction creates a contract without code', { data: raw('00') }),
  plain('a transaction creates a contract that acts in its constructor', {
    value: ETHER,
    data: deploying({ kind: 'call', target: BERT, value: 1n }, { kind: 'delegatecall', target: ANNA }),
  }),
  plain('a transaction fails to create a contract: reverted with data', {
    data: constructing({ kind: 'revert', data: bytes('no') }),
  }),
  plain('a transaction fails to create a contract: invalid opcode', { data: raw('fe') }),
  plain('a transaction fails to create a contract: out of gas', {
    data: constructing({ kind: 'outOfGas' }),
    gas: 200_000,
  }),
];
