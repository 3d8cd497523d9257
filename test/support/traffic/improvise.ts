import type { Address, Data } from '../../../src/ethereum/traces/index.ts';
import { type Action, type ActionKind, constructing, deploying, program } from './actor.ts';
import { ACTORS, DELEGATOR, NOBODY, PRECOMPILES, SENDERS } from './cast.ts';
import type { Random } from './random.ts';
import type { Transaction, TransactionType } from './transaction.ts';

/** Maximum number of transactions per block. */
const MOST_TRANSACTIONS = 6;
/**
 * Maximum number of actions per contract, and maximum depth of a call tree. Their product bounds the size of a trace.
 */
const MOST_ACTIONS = 4;
const MOST_DEPTH = 4;
/**
 * Addresses without code or key that receive transfers and calls; few, so that filters find several matches for each.
 */
const STRANGERS = 40;
/** Enough for a tree of this size and depth, unless a frame burns all its gas. */
const TREE_GAS = 2_000_000;
/** Gas limit of a call in a tree, so that a call that burns its gas leaves enough for the next. */
const CALL_GAS = 200_000;

const CALLS: readonly ActionKind[] = ['call', 'call', 'call', 'delegatecall', 'staticcall', 'callcode'];
const ENDS: readonly ActionKind[] = [
  'stop',
  'return',
  'return',
  'revert',
  'invalid',
  'badJump',
  'stackUnderflow',
  'outOfGas',
];
const TYPES: readonly TransactionType[] = ['legacy', 'eip2930', 'eip1559', 'eip1559'];

/** Init codes of a few bytes, which keep blocks small: no code, code of one byte, and four ways to fail. */
const SMALL_INITS = ['', '00', '60015ff3', 'fe', '5ffd', '5f56', '60ef5f5360015ff3'];

/** Returns the random transactions of one block: transfers, creations and trees of calls. */
export function randomTransactions(random: Random): Transaction[] {
  return Array.from({ length: 1 + random.below(MOST_TRANSACTIONS) }, () => {
    const common = { from: random.pick(SENDERS), type: random.pick(TYPES), value: someWei(random) };
    const kind = random.below(10);
    if (kind < 2) return { ...common, about: 'a transfer', to: someone(random) };
    if (kind < 3) return { ...common, about: 'a creation', data: someInit(random, 1), gas: TREE_GAS };
    const data = program(...someActions(random, MOST_DEPTH));
    return { ...common, about: 'a tree of calls', to: random.pick(ACTORS), data, gas: TREE_GAS };
  });
}

function someActions(random: Random, depth: number): Action[] {
  const actions = Array.from({ length: random.below(MOST_ACTIONS + 1) }, () => someAction(random, depth));
  return random.chance(0.3) ? [...actions, someEnd(random)] : actions;
}

function someAction(random: Random, depth: number): Action {
  const kind = random.below(10);
  if (kind < 1) return { kind: 'store', target: someone(random), value: BigInt(random.below(2)) };
  if (kind < 2) return { kind: 'log', target: someone(random), data: someBytes(random) };
  if (kind < 4) {
    const creation = { value: someWei(random), data: someInit(random, depth - 1) };
    if (random.chance(0.5)) return { kind: 'create', ...creation };
    return { kind: 'create2', target: someone(random), ...creation };
  }
  const call = { kind: random.pick(CALLS), value: someWei(random), gas: CALL_GAS };
  if (depth === 0 || random.chance(0.3))
    return { ...call, target: random.pick([...PRECOMPILES, someone(random)]), data: someBytes(random) };
  const data = program(...someActions(random, depth - 1));
  return { ...call, target: random.pick([...ACTORS, 'self', 'created', DELEGATOR.address]), data };
}

function someEnd(random: Random): Action {
  if (random.chance(0.1)) return { kind: 'selfdestruct', target: someone(random) };
  return { kind: random.pick(ENDS), data: someBytes(random) };
}

function someInit(random: Random, depth: number): Data {
  if (depth <= 0 || random.chance(0.75)) return `0x${random.pick(SMALL_INITS)}` as Data; // hex of whole bytes
  const actions = someActions(random, depth - 1);
  return random.chance(0.7) ? deploying(...actions) : constructing(...actions);
}

/** Half of all calls transfer no value, as on mainnet. */
function someWei(random: Random): bigint {
  return random.chance(0.5) ? 0n : BigInt(random.below(1_000));
}

function someBytes(random: Random): Data {
  return `0x${random.hex(random.below(80))}` as Data; // hex of whole bytes
}

function someone(random: Random): Address {
  if (random.chance(0.4)) return random.pick([...ACTORS, ...SENDERS.map(({ address }) => address), NOBODY]);
  return `0x${(STRANGERS + random.below(STRANGERS)).toString(16).padStart(4, '0').repeat(10)}` as Address; // 20 bytes
}
