/** Trees of frames that we made up, as the nodes give them, and what must become of them. For tests only. */
import fc from 'fast-check';
import type { Trace } from '../index.ts';
import { forkScheduleOf } from './forks.ts';
import { parseHeader } from './parseHeader.ts';
import { parseTransactions } from './parseTransactions.ts';

/** A frame of a tree that we made up, and with it what must become of it. */
export interface Frame {
  readonly opcode:
    | 'CALL'
    | 'CALLCODE'
    | 'DELEGATECALL'
    | 'STATICCALL'
    | 'CREATE'
    | 'CREATE2'
    | 'SELFDESTRUCT';
  /** 0 for none; a delegated call has its parent's. */
  readonly value: number;
  /** A precompiled contract where it is 1 to 9. */
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

/** Roots run: a transaction that cannot pay is in no block, and calls or creates. What destroys itself calls nothing any more. */
export const anyBlock = fc
  .array(anyFrame, { minLength: 1, maxLength: 4 })
  .map((roots) =>
    roots.map((root) =>
      sound({ ...root, opcode: root.opcode.startsWith('CREATE') ? 'CREATE' : 'CALL' }, true, 0),
    ),
  );

/** The same tree as an EVM could have run it: with values that hold together, and no children where there can be none. */
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

/** A precompiled contract does not revert: what does is a contract of another chain's at that address. */
const isPrecompiled = (frame: Frame) =>
  isCall(frame) && frame.to < 10 && frame.failure !== 'execution reverted';

/** Whether Parity has the frame, below a root. */
const isShown = (frame: Frame) =>
  !frame.failure.startsWith('insuff') && !(isPrecompiled(frame) && frame.value === 0);

/** What is compared: who the frame is (its gas is its number) and where it stands. */
export interface Place {
  readonly id: number;
  readonly traceAddress: readonly number[];
  readonly subtraces: number;
}

/** The frames that must come out, found by walking the tree. */
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
/** More than any transaction of these pays before it runs, so that every root keeps a gas of its own. */
const GAS_BASE = 10_000_000;

/** Every frame of the block gets a number: its gas, by which it is known again. A suicide's is its balance. */
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

/** The tree as callTracer gives it. */
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

/** The tree flat, as flatCallTracer with precompiled contracts and as a trace_block that hides nothing give it. */
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

/** The block as a node gives it with its transactions, whose limits are the gas of their roots. */
export function sentBlock(roots: readonly Frame[], idOf: (frame: Frame) => number): object {
  const transactions = roots.map((root, i) => ({
    hash: hash(i),
    from: address(SENDER),
    to: root.opcode.startsWith('CREATE') ? null : address(root.to),
    value: hex(root.value),
    // One more than the root says: the tests know roots again by their gas, which is then left alone.
    gas: hex(idOf(root) + 1),
    input: '0x',
  }));
  const numbers = { number: '0x9', timestamp: '0x1', gasLimit: '0x0', gasUsed: hex(0xffffff) };
  return { hash: BLOCK, parentHash: BLOCK, ...numbers, transactions };
}

/** The same, parsed. */
export function blockOf(roots: readonly Frame[], idOf: (frame: Frame) => number) {
  const block = sentBlock(roots, idOf);
  return { header: parseHeader(block), transactions: parseTransactions(block) };
}
