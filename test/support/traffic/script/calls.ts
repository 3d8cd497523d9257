import { program } from '../actor.ts';
import { ANNA, BERT, CORA, NOBODY } from '../cast.ts';
import type { Transaction } from '../transaction.ts';
import { anna, bytes, nest, plain } from './scene.ts';

/** Calls of every kind that succeed. */
export const calls: readonly Transaction[] = [
  anna(
    'calls side by side and nested',
    {
      kind: 'call',
      target: BERT,
      data: program({ kind: 'call', target: CORA }, { kind: 'call', target: ANNA }),
    },
    { kind: 'call', target: CORA, value: 5n },
    { kind: 'return', data: bytes('done') },
  ),
  anna(
    'delegatecall, with the value of its caller',
    { kind: 'delegatecall', target: BERT, data: program({ kind: 'call', target: CORA, value: 1n }) },
    {
      kind: 'call',
      target: BERT,
      value: 7n,
      data: program({ kind: 'delegatecall', target: CORA, data: program({ kind: 'call', target: ANNA }) }),
    },
  ),
  anna('staticcall', {
    kind: 'staticcall',
    target: BERT,
    data: program({ kind: 'call', target: CORA }, { kind: 'return', data: bytes('seen') }),
  }),
  anna('callcode, with value and without', {
    kind: 'callcode',
    target: BERT,
    value: 9n,
    data: program({ kind: 'callcode', target: CORA }),
  }),
  anna('a call to itself', { kind: 'call', target: 'self', data: program({ kind: 'store', value: 1n }) }),
  anna(
    'calls to an address without code',
    { kind: 'call', target: NOBODY, value: 1n, data: bytes('anyone?') },
    { kind: 'delegatecall', target: NOBODY },
    { kind: 'staticcall', target: NOBODY },
    { kind: 'callcode', target: NOBODY },
  ),
  plain('twenty calls deep', {
    to: ANNA,
    gas: 3_000_000,
    data: nest(20, { kind: 'return', data: bytes('deep') }),
  }),
  plain('a failure twenty calls deep', { to: ANNA, gas: 3_000_000, data: nest(20, { kind: 'invalid' }) }),
  anna('a log', { kind: 'log', target: BERT, data: bytes('log') }),
];
