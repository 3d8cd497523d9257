/**
 * The Actor is a contract that interprets a program in its calldata: a list of actions, each of which may contain a
 * program for the contract that it calls. So the calldata of one transaction describes any tree of calls. The same
 * code is its constructor, which runs the program that follows the code.
 *
 * An action is forty bytes and its data:
 *
 *     | kind 1 | flags 1 | target 20 | gas 4 | size 3 | value 11 | data (size) |
 */
import type { Address, Data } from '../../../src/ethereum/traces/index.ts';
import { assemble, at, type Code, jump, jumpIf, label, mark, op, type Value } from './assemble.ts';

/**
 * Actions of an Actor (`become` returns the Actor's own code). The index in this list is the encoded kind. The end of
 * the program is a stop.
 */
const KINDS = [
  'stop',
  'call',
  'callcode',
  'delegatecall',
  'staticcall',
  'create',
  'create2',
  'selfdestruct',
  'return',
  'revert',
  'invalid',
  'badJump',
  'stackUnderflow',
  'outOfGas',
  'store',
  'log',
  'become',
] as const;
export type ActionKind = (typeof KINDS)[number];

/** An address, or a placeholder for the contract itself or for the contract that it created last. */
export type Target = Address | 'self' | 'created';

export interface Action {
  readonly kind: ActionKind;
  /** The callee; the beneficiary (selfdestruct), the salt (create2), the key (store), the topic (log). */
  readonly target?: Target;
  /** In wei; the stored value (store). */
  readonly value?: bigint;
  /** Gas limit of a call. Default: all gas except the 64th part that EIP-150 reserves. */
  readonly gas?: number;
  /** The call's input, the init code, the data to return or revert with, the log's data. */
  readonly data?: Data;
}

const FLAGS = { self: 1, created: 2 } as const;
/** More gas than a block has: a call with it gets all available gas (EIP-150). */
const ALL_GAS = 0xffff_ffff;
const HEADER_BYTES = 40;
const WORD_BYTES = 32;
const VALUE_BYTES = 11;

/** Returns the calldata that makes an Actor run `actions`. */
export function program(...actions: readonly Action[]): Data {
  return `0x${actions.map(encode).join('')}` as Data; // lower-case hex of whole bytes
}

function encode({ kind, target, value = 0n, gas = ALL_GAS, data = '0x' as Data }: Action): string {
  const flag = target === 'self' ? FLAGS.self : target === 'created' ? FLAGS.created : 0;
  const address = flag !== 0 || target === undefined ? hex(0, 20) : target.slice(2);
  const body = data.slice(2);
  return [
    hex(KINDS.indexOf(kind), 1),
    hex(flag, 1),
    address,
    hex(gas, 4),
    hex(body.length / 2, 3),
    hex(value, VALUE_BYTES),
    body,
  ].join('');
}

function hex(value: number | bigint, bytes: number): string {
  const digits = value.toString(16).padStart(bytes * 2, '0');
  if (value < 0 || digits.length > bytes * 2)
    throw new RangeError(`program: ${value} does not fit into ${bytes} bytes of an action`);
  return digits;
}

/** Memory layout of the interpreter: its variables, one word each, followed by the program. */
const NEXT = 0x00;
const CREATED = 0x20;
const TARGET = 0x40;
const GAS = 0x60;
const SIZE = 0x80;
const DATA = 0xa0;
const VALUE = 0xc0;
const HEADER = 0xe0;
const KIND = 0x100;
const FLAG = 0x120;
const PROGRAM = 0x140;

const get = (variable: number): Code => op('MLOAD', { offset: variable });
const set = (variable: number, value: Value): Code => op('MSTORE', { offset: variable, value });
/** The last `bytes` of a word. */
const last = (bytes: number, word: Code): Code => op('AND', { a: (1n << BigInt(bytes * 8)) - 1n, b: word });
/** The `bytes` of the header's first word that end `after` bytes before its end. */
const field = (bytes: number, after: number): Code =>
  last(bytes, op('SHR', { bits: after * 8, value: get(HEADER) }));

const data = { offset: get(DATA), size: get(SIZE) };
const input = { inOffset: get(DATA), inSize: get(SIZE), outOffset: 0, outSize: 0 };
const callee = { gas: get(GAS), to: get(TARGET) };
/** An offset so large that the memory for it costs more gas than any block has. */
const BEYOND_MEMORY = 0xffff_ffff;

const again = jump('next');
const discard = (result: Code): Code => [...result, ...op('POP'), ...again];

/** The code of each kind of action. */
const ACTIONS: Readonly<Record<ActionKind, Code>> = {
  stop: op('STOP'),
  call: discard(op('CALL', { ...callee, value: get(VALUE), ...input })),
  callcode: discard(op('CALLCODE', { ...callee, value: get(VALUE), ...input })),
  delegatecall: discard(op('DELEGATECALL', { ...callee, ...input })),
  staticcall: discard(op('STATICCALL', { ...callee, ...input })),
  create: [...set(CREATED, op('CREATE', { value: get(VALUE), ...data })), ...again],
  create2: [...set(CREATED, op('CREATE2', { value: get(VALUE), ...data, salt: get(TARGET) })), ...again],
  selfdestruct: op('SELFDESTRUCT', { to: get(TARGET) }),
  return: op('RETURN', data),
  revert: op('REVERT', data),
  invalid: op('INVALID'),
  badJump: op('JUMP', { to: 0 }),
  stackUnderflow: op('POP'),
  outOfGas: op('KECCAK256', { offset: 0, size: BEYOND_MEMORY }),
  store: [...op('SSTORE', { key: get(TARGET), value: get(VALUE) }), ...again],
  log: [...op('LOG1', { ...data, topic: get(TARGET) }), ...again],
  become: [
    ...op('CODECOPY', { to: 0, from: 0, size: at('end') }),
    ...op('RETURN', { offset: 0, size: at('end') }),
  ],
};

/** The Actor's code. */
export const ACTOR: Data = assemble([
  // In a deployed contract no data follows the code, and the calldata is the program. In a constructor there is no
  // calldata.
  op('CODECOPY', { to: PROGRAM, from: at('end'), size: op('CODESIZE') }),
  op('CALLDATACOPY', { to: PROGRAM, from: 0, size: op('CALLDATASIZE') }),
  set(NEXT, PROGRAM),
  label('next'),
  set(HEADER, op('MLOAD', { offset: get(NEXT) })),
  set(
    VALUE,
    last(VALUE_BYTES, op('MLOAD', { offset: op('ADD', { a: get(NEXT), b: HEADER_BYTES - WORD_BYTES }) })),
  ),
  set(DATA, op('ADD', { a: get(NEXT), b: HEADER_BYTES })),
  set(SIZE, field(3, 3)),
  set(NEXT, op('ADD', { a: get(DATA), b: get(SIZE) })),
  set(GAS, field(4, 6)),
  set(TARGET, field(20, 10)),
  set(FLAG, field(1, 30)),
  set(KIND, field(1, 31)),
  jumpIf(op('EQ', { a: get(FLAG), b: FLAGS.self }), 'self'),
  jumpIf(op('EQ', { a: get(FLAG), b: FLAGS.created }), 'created'),
  label('act'),
  ...KINDS.map((kind, code) => jumpIf(op('EQ', { a: get(KIND), b: code }), kind)),
  op('INVALID'),
  label('self'),
  set(TARGET, op('ADDRESS')),
  jump('act'),
  label('created'),
  set(TARGET, get(CREATED)),
  jump('act'),
  ...KINDS.flatMap((kind) => [label(kind), ACTIONS[kind]]),
  mark('end'),
]);

/**
 * Returns init code that runs `actions` while the contract is created. The data that they return becomes the
 * contract's code.
 */
export function constructing(...actions: readonly Action[]): Data {
  return `${ACTOR}${program(...actions).slice(2)}` as Data; // concatenated hex
}

/** Returns init code that runs actions and then creates an Actor. */
export function deploying(...first: readonly Action[]): Data {
  return constructing(...first, { kind: 'become' });
}
