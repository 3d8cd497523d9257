/** For tests: random call trees in the forms that nodes send, and the traces to which they must be converted. */
import fc from 'fast-check';
import type { Trace } from '../index.ts';
import { chainRulesOf } from './chains/chainRulesOf.ts';
import { parseHeader } from './parseHeader.ts';
import { parseTransactions } from './parseTransactions.ts';

/** A random frame. It determines what a node sends for it, and the expected trace. */
export interface Frame {
  readonly opcode:
    | 'CALL'
    | 'CALLCODE'
    | 'DELEGATECALL'
    | 'STATICCALL'
    | 'CREATE'
    | 'CREATE2'
    | 'SELFDESTRUCT';
  /** Transferred value. For a DELEGATECALL below the root, the value of the parent frame is used instead. */
  readonly value: number;
  /** Number that becomes the recipient's address. 1 to 9 are precompiled contracts. */
  readonly to: number;
  readonly failure: 'none' | 'execution reverted' | 'out of gas' | 'insufficient balance for transfer';
  readonly children: readonly Frame[];
}

const ORDINARY = 0xabc;

const { frame: anyFrame } = fc.letrec<{ frame: Frame }>((tie) => ({
  frame: fc.record({
    opcode: fc.constantFrom(
      'CALL',
      'CALL',
      'CALLCODE',
      'DELEGATECALL',
      'STATICCALL',
      'CREATE',
      'CREATE2',
      'SELFDESTRUCT',
    ),
    value: fc.constantFrom(0, 0, 7),
    to: fc.constantFrom(ORDINARY, ORDINARY, ORDINARY + 1, 1, 4, 9),
    failure: fc.constantFrom(
      'none',
      'none',
      'execution reverted',
      'out of gas',
      'insufficient balance for transfer',
    ),
    children: fc.oneof(
      { maxDepth: 5, depthIdentifier: 'frames' },
      fc.constant([]),
      fc.array(tie('frame'), { maxLength: 4, depthIdentifier: 'frames' }),
    ),
  }),
}));

/**
 * Random blocks of one to four transactions, each given by its root frame. A root frame is a call or creation that
 * ran, because a block contains no transaction that cannot pay. A SELFDESTRUCT frame has no children.
 */
export const anyBlock = fc
  .array(anyFrame, { minLength: 1, maxLength: 4 })
  .map((roots) =>
    roots.map((root) =>
      sound({ ...root, opcode: root.opcode.startsWith('CREATE') ? 'CREATE' : 'CALL' }, true, 0),
    ),
  );

/**
 * Corrects a random tree so that an EVM could have run it: the values are consistent, and frames that cannot have
 * children have none.
 */
function sound(frame: Frame, isRoot: boolean, inherited: number): Frame {
  const fixed = { DELEGATECALL: isRoot ? frame.value : inherited, STATICCALL: 0 };
  const value = frame.opcode in fixed ? fixed[frame.opcode as keyof typeof fixed] : frame.value;
  const neverRan = frame.failure === 'insufficient balance for transfer';
  const failure = frame.opcode === 'SELFDESTRUCT' || (neverRan && isRoot) ? 'none' : frame.failure;
  const isLeaf =
    frame.opcode === 'SELFDESTRUCT' || failure.startsWith('insuff') || (isCall(frame) && frame.to < 10);
  const children = isLeaf ? [] : frame.children.map((child) => sound(child, false, value));
  return { ...frame, value, failure, children };
}

const isCall = ({ opcode }: Frame) => opcode.includes('CALL');

/** Precompiled contracts do not revert. If a frame with such an address reverts, it is another chain's contract. */
const isPrecompiled = (frame: Frame) =>
  isCall(frame) && frame.to < 10 && frame.failure !== 'execution reverted';

/** Returns whether Parity has a trace of a frame that is below the root. */
const isShown = (frame: Frame) =>
  !frame.failure.startsWith('insuff') && !(isPrecompiled(frame) && frame.value === 0);

/** What tests compare of a frame: the number from `numbered` that identifies it, and its position in the tree. */
export interface Place {
  readonly id: number;
  readonly traceAddress: readonly number[];
  readonly subtraces: number;
}

/** Returns the frames of a tree that the conversion must keep, in pre-order. */
export function expected(root: Frame, idOf: (frame: Frame) => number): Place[] {
  const walk = (frame: Frame, traceAddress: readonly number[]): Place[] => {
    const shown = frame.children.filter(isShown);
    const below = shown.flatMap((child, i) => walk(child, [...traceAddress, i]));
    return [{ id: idOf(frame), traceAddress, subtraces: shown.length }, ...below];
  };
  return walk(root, []);
}

const hex = (number: number) => `0x${number.toString(16)}`;
const address = (number: number) => `0x${number.toString(16).padStart(40, '0')}`;
export const hash = (number: number) => `0x${number.toString(16).padStart(64, '0')}`;
export const BLOCK = hash(0xb1);
const SENDER = 0xaaa;
/** Lowest gas of a frame. It exceeds the intrinsic gas of every generated transaction. */
const GAS_BASE = 10_000_000;

/**
 * Assigns a number to every frame of a block, by which tests identify it. It is the gas of the frame, or the balance
 * of a destruction.
 */
export function numbered(roots: readonly Frame[]): (frame: Frame) => number {
  const numbers = new Map<Frame, number>();
  const visit = (frame: Frame): void => {
    numbers.set(frame, numbers.size + GAS_BASE);
    frame.children.forEach(visit);
  };
  roots.forEach(visit);
  return (frame) => numbers.get(frame) ?? -1;
}

const idOfTrace = ({ action }: Trace) =>
  Number('gas' in action ? action.gas : 'balance' in action ? action.balance : 0);
export const placeOf = (trace: Trace): Place => ({
  id: idOfTrace(trace),
  traceAddress: trace.traceAddress,
  subtraces: trace.subtraces,
});

/** Returns a tree in the form of geth's `callTracer`. */
export function nested(frame: Frame, idOf: (frame: Frame) => number): object {
  const { opcode, failure } = frame;
  const isFailedCreation = opcode.startsWith('CREATE') && failure !== 'none';
  const value = opcode === 'SELFDESTRUCT' ? idOf(frame) : frame.value;
  return {
    type: opcode,
    from: address(SENDER),
    gas: hex(idOf(frame)),
    gasUsed: '0x14',
    ...(!isFailedCreation && { to: address(frame.to) }),
    ...(opcode !== 'STATICCALL' && { value: hex(value) }),
    ...(failure !== 'none' && { error: failure }),
    input: '0x',
    ...(frame.children.length > 0 && { calls: frame.children.map((child) => nested(child, idOf)) }),
  };
}

/** Returns a tree as a flat list of all its frames, as `flatCallTracer` does with `includePrecompiles`. */
export function flat(root: Frame, position: number, idOf: (frame: Frame) => number): object[] {
  const walk = (frame: Frame, traceAddress: readonly number[]): object[] => {
    const { opcode, failure, children } = frame;
    const own = {
      ...actionAndResult(frame, idOf(frame)),
      ...(failure !== 'none' && { error: failure }),
      blockHash: BLOCK,
      blockNumber: 9,
      subtraces: children.length,
      traceAddress,
      transactionHash: hash(position),
      transactionPosition: position,
      type: opcode === 'SELFDESTRUCT' ? 'suicide' : opcode.startsWith('CREATE') ? 'create' : 'call',
    };
    return [own, ...children.flatMap((child, i) => walk(child, [...traceAddress, i]))];
  };
  return walk(root, []);
}

function actionAndResult({ opcode, value, to, failure }: Frame, id: number): object {
  if (opcode === 'SELFDESTRUCT')
    return {
      action: { address: address(SENDER), balance: hex(id), refundAddress: address(to) },
      result: null,
    };
  const isCreation = opcode.startsWith('CREATE');
  const own = isCreation
    ? { creationMethod: opcode.toLowerCase() }
    : { callType: opcode.toLowerCase(), to: address(to) };
  const action = { ...own, from: address(SENDER), gas: hex(id), value: hex(value) };
  if (failure !== 'none' && failure !== 'execution reverted') return { action };
  return { action, result: { gasUsed: '0x14', ...(isCreation && { address: address(to), code: '0x' }) } };
}

export const rules = chainRulesOf(1_337);

/**
 * Returns a block with its transactions in the form that a node sends. The gas limit of a transaction follows from
 * the gas of its root frame.
 */
export function sentBlock(roots: readonly Frame[], idOf: (frame: Frame) => number): object {
  const transactions = roots.map((root, i) => ({
    hash: hash(i),
    from: address(SENDER),
    to: root.opcode.startsWith('CREATE') ? null : address(root.to),
    value: hex(root.value),
    // The limit differs from the gas of the root frame, so that the conversion does not change that gas. Tests
    // identify the root frame by it.
    gas: hex(idOf(root) + 1),
    input: '0x',
  }));
  const numbers = { number: '0x9', timestamp: '0x1', gasLimit: '0x0', gasUsed: hex(0xffffff) };
  return { hash: BLOCK, parentHash: BLOCK, ...numbers, transactions };
}

/** Returns the parsed header and transactions of the block that `sentBlock` returns. */
export function blockOf(roots: readonly Frame[], idOf: (frame: Frame) => number) {
  const block = sentBlock(roots, idOf);
  return { header: parseHeader(block), transactions: parseTransactions(block) };
}
