import { type Action, program } from '../actor.ts';
import { BERT, precompile } from '../cast.ts';
import type { Transaction } from '../transaction.ts';
import { anna, bytes, CURVE_ADD, FORTUNE, IDENTITY, RIPEMD160, raw, SHA256 } from './scene.ts';

/** Calls of precompiled contracts: whether they appear as frames depends on their value. */
export const precompiles: readonly Transaction[] = [
  anna(
    'precompiles without value',
    { kind: 'call', target: IDENTITY, data: bytes('same') },
    { kind: 'staticcall', target: SHA256, data: bytes('hash') },
    { kind: 'delegatecall', target: RIPEMD160, data: bytes('hash') },
    { kind: 'callcode', target: IDENTITY, data: bytes('same') },
    { kind: 'call', target: BERT },
  ),
  anna(
    'precompiles with value',
    { kind: 'call', target: IDENTITY, value: 1n, data: bytes('same') },
    { kind: 'callcode', target: SHA256, value: 2n, data: bytes('hash') },
    {
      kind: 'call',
      target: BERT,
      value: 3n,
      data: program(
        { kind: 'delegatecall', target: IDENTITY, data: bytes('inherits the value') },
        { kind: 'staticcall', target: IDENTITY, data: bytes('has none') },
      ),
    },
  ),
  anna(
    'precompiles that fail',
    { kind: 'call', target: CURVE_ADD, gas: 10_000, data: raw('01'.repeat(64)) },
    { kind: 'call', target: CURVE_ADD, value: 1n, gas: 10_000, data: raw('01'.repeat(64)) },
    { kind: 'staticcall', target: SHA256, gas: 10, data: bytes('too little gas') },
  ),
  anna('a precompile with more value than there is', { kind: 'call', target: IDENTITY, value: FORTUNE }),
  anna(
    'every precompile',
    ...Array.from(
      { length: 17 },
      (_, index): Action => ({
        kind: 'staticcall',
        target: precompile(index + 1),
        gas: 10_000,
      }),
    ),
  ),
];
