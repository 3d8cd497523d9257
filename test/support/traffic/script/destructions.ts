import { constructing, deploying, program } from '../actor.ts';
import { ANNA, BERT, CORA, NOBODY } from '../cast.ts';
import type { Transaction } from '../transaction.ts';
import { anna } from './scene.ts';

/** Selfdestruct of old and new contracts, to other accounts and to themselves. */
export const destructions: readonly Transaction[] = [
  anna(
    'selfdestruct of a contract created in the same transaction',
    { kind: 'create', value: 8n, data: deploying() },
    { kind: 'call', target: 'created', data: program({ kind: 'selfdestruct', target: NOBODY }) },
  ),
  anna('selfdestruct in the constructor', {
    kind: 'create',
    value: 2n,
    data: constructing({ kind: 'selfdestruct', target: BERT }),
  }),
  anna(
    'selfdestruct to itself of a contract created in the same transaction',
    { kind: 'create', value: 8n, data: deploying() },
    { kind: 'call', target: 'created', data: program({ kind: 'selfdestruct', target: 'self' }) },
  ),
  anna('selfdestruct to itself of an older contract', {
    kind: 'call',
    target: CORA,
    data: program({ kind: 'selfdestruct', target: 'self' }),
  }),
  anna('selfdestruct of an older contract with a balance', {
    kind: 'call',
    target: CORA,
    data: program({ kind: 'selfdestruct', target: BERT }),
  }),
  anna('selfdestruct of an older contract without a balance', {
    kind: 'call',
    target: CORA,
    data: program({ kind: 'selfdestruct', target: NOBODY }),
  }),
  anna('selfdestruct within a call that fails', {
    kind: 'call',
    target: BERT,
    data: program(
      { kind: 'call', target: CORA, value: 1n, data: program({ kind: 'selfdestruct', target: NOBODY }) },
      { kind: 'revert' },
    ),
  }),
  anna('selfdestruct within a staticcall', {
    kind: 'staticcall',
    target: CORA,
    gas: 60_000,
    data: program({ kind: 'selfdestruct', target: BERT }),
  }),
  anna('selfdestruct of a caller, by a delegatecall', {
    kind: 'call',
    target: CORA,
    value: 1n,
    data: program({
      kind: 'delegatecall',
      target: BERT,
      data: program({ kind: 'selfdestruct', target: ANNA }),
    }),
  }),
];
