import { constructing, deploying, program } from '../actor.ts';
import { ANNA, BERT, CORA } from '../cast.ts';
import type { Transaction } from '../transaction.ts';
import { anna, bytes, FORTUNE, plain, raw, salt } from './scene.ts';

/** Contracts that create contracts, and every way in which that can fail. */
export const creations: readonly Transaction[] = [
  anna('create', { kind: 'create', value: 3n, data: deploying() }, { kind: 'call', target: 'created' }),
  anna('create2', { kind: 'create2', target: salt(1), value: 4n, data: deploying() }),
  anna('a failed create2: the address is taken', { kind: 'create2', target: salt(1), data: deploying() }),
  anna('a create within a create', {
    kind: 'create',
    data: deploying({ kind: 'create', data: deploying() }, { kind: 'call', target: 'created' }),
  }),
  anna('a delegatecall within a create', {
    kind: 'create',
    value: 6n,
    data: deploying({
      kind: 'delegatecall',
      target: BERT,
      data: program({ kind: 'call', target: CORA, value: 1n }),
    }),
  }),
  anna(
    'a failed create: reverted with data',
    {
      kind: 'create',
      data: constructing({ kind: 'call', target: BERT }, { kind: 'revert', data: bytes('no') }),
    },
    { kind: 'create2', target: salt(2), data: constructing({ kind: 'revert', data: bytes('no') }) },
  ),
  anna('a failed create: invalid opcode', { kind: 'create', data: raw('fe') }),
  plain('a failed create: out of gas', {
    to: ANNA,
    gas: 500_000,
    data: program({ kind: 'create', data: constructing({ kind: 'outOfGas' }) }),
  }),
  plain('a failed create: no gas left to store its code', {
    to: ANNA,
    gas: 600_000,
    data: program({ kind: 'create', data: raw('6150005ff3') }),
  }),
  anna('a failed create: its code begins with 0xef', { kind: 'create', data: raw('60ef5f5360015ff3') }),
  anna('a failed create: larger than code may be', { kind: 'create', data: raw('6160015ff3') }),
  anna('a failed create: more value than there is', { kind: 'create', value: FORTUNE, data: deploying() }),
  anna('a create within a call that fails', {
    kind: 'call',
    target: BERT,
    data: program({ kind: 'create', data: deploying() }, { kind: 'revert', data: bytes('undo') }),
  }),
  anna('a create within a staticcall', {
    kind: 'staticcall',
    target: BERT,
    gas: 100_000,
    data: program({ kind: 'create', data: deploying() }),
  }),
];
