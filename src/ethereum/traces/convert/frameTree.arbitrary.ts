/** Random trees of frames in the forms that nodes send, and the expected conversion results. For tests only. */
import fc from 'fast-check';
import type { Trace } from '../index.ts';
import { forkScheduleOf } from './forks.ts';
import { parseHeader } from './parseHeader.ts';
import { parseTransactions } from './parseTransactions.ts';

/** A random frame; also determines the expected trace. */
export interface Frame {
  readonly opcode:
    | 'CALL'
    | 'CALLCODE'
    | 'DELEGATECALL'
    | 'STATICCALL'
    | 'CREATE'
    | 'CREATE2'
    | 'SELFDESTRUCT';
  /** 0 for no value; a delegated call has its parent's value. */
  readonly value: number;
  /** A precompiled contract if 1 to 9. */
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
 * Blocks of one to four transactions. Each root is a call or creation that ran, because a transaction that cannot
 * pay is in no block. A SELFDESTRUCT frame has no children.
 */
export const anyBlock = fc
  .array(anyFrame, { minLength: 1, maxLength: 4 })
  .map((roots) =>
    roots.map((root) =>
      sound({ ...root, opcode: root.opcode.startsWith('CREATE') ? 'CREATE' : 'CALL' }, true, 0),
    ),
  );

/**
 * Returns the tree as an EVM could have run it: with consistent values, and without children of frames that cannot
 * have any.
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

/** A precompiled contract does not revert; a frame that does is a contract of another chain at that address. */
const isPrecompiled = (frame: Frame) =>
  isCall(frame) && frame.to < 10 && frame.failure !== 'execution reverted';

/** Returns whether Parity has a trace of this frame, for a frame below the root. */
const isShown = (frame: Frame) =>
  !frame.failure.startsWith('insuff') && !(isPrecompiled(frame) && frame.value === 0);

/** Values that the tests compare: the id of a frame (its gas) and its position. */
export interface Place {
  readonly id: number;
  readonly traceAddress: readonly number[];
  readonly subtraces: number;
}

/** Returns the expected frames in pre-order. */
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
/** Above the intrinsic gas of every generated transaction, so that each root has a unique gas value. */
const GAS_BASE = 10_000_000;

/**
 * Assigns a number to every frame of the block: the frame's gas, or a suicide's balance. Tests identify frames by
 * it.
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

/** Returns the tree in the form of callTracer. */
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

/** Returns the tree as a flat list, like flatCallTracer with precompiles and a trace_block that hides nothing. */
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

export const schedule = forkScheduleOf(1_337);

/**
 * Returns the block with its transactions in the form that a node sends. Gas limits are derived from the roots'
 * gas.
 */
export function sentBlock(roots: readonly Frame[], idOf: (frame: Frame) => number): object {
  const transactions = roots.map((root, i) => ({
    hash: hash(i),
    from: address(SENDER),
    to: root.opcode.startsWith('CREATE') ? null : address(root.to),
    value: hex(root.value),
    // One more than the root's gas, so that the conversion does not adjust the root's gas, by which tests identify
    // it.
    gas: hex(idOf(root) + 1),
    input: '0x',
  }));
  const numbers = { number: '0x9', timestamp: '0x1', gasLimit: '0x0', gasUsed: hex(0xffffff) };
  return { hash: BLOCK, parentHash: BLOCK, ...numbers, transactions };
}

/** Returns the block of `sentBlock`, parsed. */
export function blockOf(roots: readonly Frame[], idOf: (frame: Frame) => number) {
  const block = sentBlock(roots, idOf);
  return { header: parseHeader(block), transactions: parseTransactions(block) };
}
