import { type Action, program } from '../actor.ts';
import { ANNA, BERT, CORA } from '../cast.ts';
import type { Transaction } from '../transaction.ts';
import { anna, bytes, FORTUNE, plain } from './scene.ts';

/** A call of Bert with little gas, so that Anna has enough left if it fails. */
const bert = (...actions: readonly Action[]): Action => ({
  kind: 'call',
  target: BERT,
  gas: 60_000,
  data: program(...actions),
});

/** Every way in which a call can fail, at the root and below it. */
export const failures: readonly Transaction[] = [
  anna(
    'a transaction reverted with data',
    { kind: 'call', target: BERT },
    { kind: 'revert', data: bytes('why') },
  ),
  anna('a transaction reverted without data', { kind: 'revert' }),
  anna('a call reverted with data, the transaction goes on', bert({ kind: 'revert', data: bytes('why') })),
  plain('a transaction out of gas', { to: ANNA, gas: 100_000, data: program({ kind: 'outOfGas' }) }),
  plain('a transaction out of gas at its first instruction', { to: ANNA, gas: 21_000 }),
  anna('a call out of gas', bert({ kind: 'call', target: CORA }, { kind: 'outOfGas' })),
  anna('a call with too little gas', { kind: 'call', target: BERT, gas: 50 }),
  anna('a transaction with an invalid opcode', { kind: 'invalid' }),
  anna('a call with an invalid opcode', bert({ kind: 'invalid' })),
  anna('a bad jump', bert({ kind: 'badJump' }), { kind: 'badJump' }),
  anna('a stack underflow', bert({ kind: 'stackUnderflow' }), { kind: 'stackUnderflow' }),
  anna('a change within a staticcall', {
    kind: 'staticcall',
    target: BERT,
    gas: 60_000,
    data: program({ kind: 'store', value: 1n }),
  }),
  anna('a call with value within a staticcall', {
    kind: 'staticcall',
    target: BERT,
    gas: 60_000,
    data: program({ kind: 'call', target: CORA, value: 1n }),
  }),
  anna('a call with more value than there is', {
    kind: 'call',
    target: BERT,
    value: FORTUNE,
    data: program(),
  }),
  anna('a callcode with more value than there is', { kind: 'callcode', target: BERT, value: FORTUNE }),
];
