/**
 * The script of the development chain's first blocks: every shape that a trace can have, each named.
 * Each inner list is a block. After it the traffic is random.
 */
import type { Address, Data } from '../traces/trace.ts';
import { type Action, constructing, deploying, program } from './actor.ts';
import { ANNA, BERT, CORA, DELEGATOR, DIRECTOR, NOBODY, precompile } from './cast.ts';
import type { Transaction } from './transaction.ts';

const ETHER = 10n ** 18n;
/** More than any Actor has. */
const FORTUNE = 1_000_000n * ETHER;
const LIVES = 10n * ETHER;

const IDENTITY = precompile(4);
const SHA256 = precompile(2);
const RIPEMD160 = precompile(3);
/** Fails on bytes that are no point of its curve. */
const CURVE_ADD = precompile(6);
const bytes = (text: string): Data => `0x${Buffer.from(text).toString('hex')}` as Data; // hex of whole bytes
const raw = (digits: string): Data => `0x${digits}` as Data; // the literals below are hex of whole bytes

/** Whose `n`-th own creation this is. A contract's first has the nonce 1 (EIP-161). */
const salt = (number: number): Address => precompile(number);

/** A transaction of the director that has Anna carry out the actions. */
const anna = (about: string, ...actions: readonly Action[]): Transaction => ({
  about,
  from: DIRECTOR,
  to: ANNA,
  data: program(...actions),
});
const plain = (about: string, transaction: Omit<Transaction, 'about' | 'from'>): Transaction => ({
  about,
  from: DIRECTOR,
  ...transaction,
});

/** Anna and Bert call each other, `depth` frames down, where `last` is done. */
function nest(depth: number, ...last: readonly Action[]): Data {
  let inner = program(...last);
  for (let level = depth; level > 0; level--)
    inner = program({ kind: 'call', target: level % 2 === 0 ? ANNA : BERT, data: inner });
  return inner;
}

const deployments: readonly Transaction[] = [
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

const transfers: readonly Transaction[] = [
  plain('a transfer (legacy)', { type: 'legacy', to: NOBODY, value: 1n, gas: 21_000 }),
  plain('a transfer (access list)', {
    type: 'eip2930',
    to: NOBODY,
    value: 2n,
    accessList: [{ address: ANNA, storageKeys: [`0x${'00'.repeat(32)}`] }],
  }),
  plain('a transfer (fee cap)', { to: NOBODY, value: 3n }),
  plain('a transfer of nothing', { to: NOBODY }),
  plain('a transfer to oneself', { to: DIRECTOR.address, value: 4n }),
  plain('a transfer to a contract', { to: ANNA, value: ETHER }),
  plain('a transaction with data to an address without code', { to: NOBODY, data: bytes('hello') }),
  plain('a transaction with so much data that a floor decides its gas', {
    to: NOBODY,
    data: raw('ff'.repeat(2_000)),
  }),
  plain('a transaction to a precompile, without value', { to: IDENTITY, data: bytes('hello') }),
  plain('a transaction to a precompile, with value', { to: SHA256, value: 1n, data: bytes('hello') }),
  plain('a transaction to a precompile that fails', {
    to: CURVE_ADD,
    data: raw('01'.repeat(64)),
    gas: 100_000,
  }),
];

const calls: readonly Transaction[] = [
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

const creations: readonly Transaction[] = [
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

/** An action of Bert's, with little gas, so that what fails leaves Anna enough to go on. */
const bert = (...actions: readonly Action[]): Action => ({
  kind: 'call',
  target: BERT,
  gas: 60_000,
  data: program(...actions),
});

const failures: readonly Transaction[] = [
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

const destructions: readonly Transaction[] = [
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

const precompiles: readonly Transaction[] = [
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

const refunds: readonly Transaction[] = [
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
    delegation: { account: DELEGATOR, code: BERT },
    data: program({ kind: 'call', target: ANNA, value: 1n }),
  }),
  anna('a call to an account that took on code', {
    kind: 'call',
    target: DELEGATOR.address,
    data: program({ kind: 'call', target: CORA }, { kind: 'return', data: bytes('mine') }),
  }),
];

export const SCRIPT: readonly (readonly Transaction[])[] = [
  deployments,
  transfers,
  calls,
  creations,
  failures,
  destructions,
  precompiles,
  refunds,
];
