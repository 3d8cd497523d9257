import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Trace } from '../trace.ts';
import {
  BlockMismatchError,
  checkBlock,
  chooseTraceSource,
  forkScheduleOf,
  fromCallTracer,
  fromFlatCallTracer,
  parseHeader,
  parseTraceBlock,
  parseTransactions,
  TraceFormatError,
} from './index.ts';

/** A frame of a tree that we made up, and with it what must become of it. */
interface Frame {
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

/** Roots run: a transaction that cannot pay is in no block. What destroys itself calls nothing any more. */
const anyBlock = fc
  .array(anyFrame, { minLength: 1, maxLength: 4 })
  .map((roots) =>
    roots.map((root) =>
      sound({ ...root, opcode: root.opcode === 'SELFDESTRUCT' ? 'CALL' : root.opcode }, true, 0),
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

/** Whether Parity has the frame, below a root. */
const isShown = (frame: Frame) =>
  !frame.failure.startsWith('insuff') && !(isCall(frame) && frame.to < 10 && frame.value === 0);

/** What is compared: who the frame is (its gas is its number) and where it stands. */
interface Place {
  readonly id: number;
  readonly traceAddress: readonly number[];
  readonly subtraces: number;
}

/** The frames that must come out, found by walking the tree. */
function expected(root: Frame, idOf: (frame: Frame) => number): Place[] {
  const walk = (frame: Frame, traceAddress: readonly number[]): Place[] => {
    const shown = frame.children.filter(isShown);
    const below = shown.flatMap((child, i) => walk(child, [...traceAddress, i]));
    return [{ id: idOf(frame), traceAddress, subtraces: shown.length }, ...below];
  };
  return walk(root, []);
}

const hex = (number: number) => `0x${number.toString(16)}`;
const address = (number: number) => `0x${number.toString(16).padStart(40, '0')}`;
const hash = (number: number) => `0x${number.toString(16).padStart(64, '0')}`;
const BLOCK = hash(0xb1);
const SENDER = 0xaaa;
/** More than any transaction of these pays before it runs, so that every root keeps a gas of its own. */
const GAS_BASE = 10_000_000;

/** Every frame of the block gets a number: its gas, by which it is known again. A suicide's is its balance. */
function numbered(roots: readonly Frame[]): (frame: Frame) => number {
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
const placeOf = (trace: Trace): Place => ({
  id: idOfTrace(trace),
  traceAddress: trace.traceAddress,
  subtraces: trace.subtraces,
});

/** The tree as callTracer gives it. */
function nested(frame: Frame, idOf: (frame: Frame) => number): object {
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
function flat(
  frame: Frame,
  position: number,
  idOf: (frame: Frame) => number,
  traceAddress: number[] = [],
): object[] {
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
  return [own, ...children.flatMap((child, i) => flat(child, position, idOf, [...traceAddress, i]))];
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

const schedule = forkScheduleOf(1_337);

/** The block as a node gives it with its transactions, whose limits are the gas of their roots. */
function blockOf(roots: readonly Frame[], idOf: (frame: Frame) => number) {
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
  const block = { hash: BLOCK, parentHash: BLOCK, ...numbers, transactions };
  return { header: parseHeader(block), transactions: parseTransactions(block) };
}

/** All three ways from one block of trees to traces. */
function allWays(roots: readonly Frame[]) {
  const idOf = numbered(roots);
  const { header, transactions } = blockOf(roots, idOf);
  const nestedAnswer = roots.map((root) => ({ result: nested(root, idOf) }));
  const flatAnswer = roots.map((root, i) => ({ txHash: hash(i), result: flat(root, i, idOf) }));
  return {
    header,
    expected: roots.flatMap((root) => expected(root, idOf)),
    traces: {
      callTracer: fromCallTracer(header, transactions, structuredClone(nestedAnswer), schedule),
      flatCallTracer: fromFlatCallTracer(header, transactions, structuredClone(flatAnswer), schedule),
      trace_block: parseTraceBlock(structuredClone(flatAnswer.flatMap(({ result }) => result))),
    },
  };
}

describe('any tree of frames', () => {
  it('gives, through every source, the traces whose places rebuild it without the frames that Parity hides', () => {
    fc.assert(
      fc.property(anyBlock, (roots) => {
        const ways = allWays(roots);
        for (const [source, traces] of Object.entries(ways.traces)) {
          expect(traces.map(placeOf), source).toEqual(ways.expected);
          checkBlock(ways.header, traces);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('gives the same traces through every source, but for how much gas a root used', () => {
    fc.assert(
      fc.property(anyBlock, (roots) => {
        const { traces } = allWays(roots);
        expect(traces.flatCallTracer).toEqual(traces.callTracer);
        expect(traces.trace_block.map(withoutRootGas)).toEqual(traces.callTracer.map(withoutRootGas));
      }),
      { numRuns: 200 },
    );
  });

  it('is read again from what was made of it, to the byte', () => {
    fc.assert(
      fc.property(anyBlock, (roots) => {
        const text = JSON.stringify(allWays(roots).traces.callTracer);
        expect(JSON.stringify(parseTraceBlock(JSON.parse(text)))).toBe(text);
      }),
      { numRuns: 200 },
    );
  });

  it('is refused by the check when a frame is missing, doubled, moved or miscounted', () => {
    const anyDamage = fc.constantFrom('missing', 'doubled', 'moved', 'miscounted');
    fc.assert(
      fc.property(anyBlock, fc.nat(), anyDamage, (roots, seed, damage) => {
        const { header, traces } = allWays(roots);
        const good = traces.callTracer;
        const at = seed % good.length;
        const hurt = good[at];
        if (!hurt) return;
        const bad: Record<string, Trace[]> = {
          missing: good.toSpliced(at, 1),
          doubled: good.toSpliced(at, 0, hurt),
          moved: good.with(at, { ...hurt, traceAddress: [...hurt.traceAddress, 0] }),
          miscounted: good.with(at, { ...hurt, subtraces: hurt.subtraces + 1 }),
        };
        expect(() => checkBlock(header, bad[damage] ?? [])).toThrow(BlockMismatchError);
      }),
      { numRuns: 300 },
    );
  });
});

const withoutRootGas = (trace: Trace) =>
  trace.traceAddress.length === 0 && trace.result
    ? { ...trace, result: { ...trace.result, gasUsed: '' } }
    : trace;

/** Puts something else in one place of a value, chosen by the numbers; or gives the junk alone. */
function spoil(value: unknown, path: readonly number[], junk: unknown): unknown {
  const [step, ...rest] = path;
  if (step === undefined || typeof value !== 'object' || value === null) return junk;
  const keys = Object.keys(value);
  if (keys.length === 0) return junk;
  const key = keys[step % keys.length] ?? '';
  const copy: unknown = Array.isArray(value) ? [...value] : { ...value };
  const members = copy as Record<string, unknown>; // an object or an array, whose keys are looked at as text
  const changed = spoil(members[key], rest, junk);
  if (changed === undefined) delete members[key];
  else members[key] = changed;
  return copy;
}

describe('garbage', () => {
  const anyJunk = fc.oneof(
    fc.jsonValue(),
    fc.constantFrom(undefined, '0x', '0x0', '0xg', '0X1', -1, 1.5, 1e300, '', [], {}, [[]], 'CALL', 'reward'),
    fc.constantFrom('0x'.padEnd(70_000, 'f'), '0x'.padEnd(70_001, 'é'), 'x'.repeat(100_000)),
  );

  /** Neither throws anything else nor hangs; errors are short and plain. */
  function bearsIt(read: () => unknown): void {
    try {
      read();
    } catch (error) {
      if (!(error instanceof TraceFormatError || error instanceof BlockMismatchError)) throw error;
      expect(error.message.length).toBeLessThan(700);
      expect(error.message).toMatch(/^[\x20-\x7e]*$/);
    }
  }

  it('in place of anything in an answer gives traces or one of the two errors, nothing else', () => {
    fc.assert(
      fc.property(anyBlock, fc.array(fc.nat({ max: 40 }), { maxLength: 7 }), anyJunk, (roots, path, junk) => {
        const idOf = numbered(roots);
        const { header, transactions } = blockOf(roots, idOf);
        const nestedAnswer = spoil(
          roots.map((root) => ({ result: nested(root, idOf) })),
          path,
          junk,
        );
        const flatAnswer = spoil(
          roots.map((root, i) => ({ result: flat(root, i, idOf) })),
          path,
          junk,
        );
        const list = spoil(
          roots.flatMap((root, i) => flat(root, i, idOf)),
          path,
          junk,
        );
        bearsIt(() => checkBlock(header, fromCallTracer(header, transactions, nestedAnswer, schedule)));
        bearsIt(() => checkBlock(header, fromFlatCallTracer(header, transactions, flatAnswer, schedule)));
        bearsIt(() => checkBlock(header, parseTraceBlock(list)));
        bearsIt(() =>
          chooseTraceSource({
            traceBlock: { result: list },
            callTracer: { result: nestedAnswer },
            flatCallTracer: { result: flatAnswer },
          }),
        );
      }),
      { numRuns: 1_000 },
    );
  });

  it('alone is refused as header, as transactions and as any answer', () => {
    fc.assert(
      fc.property(anyJunk, (junk) => {
        bearsIt(() => parseHeader(junk));
        bearsIt(() => parseTransactions(junk));
        bearsIt(() => parseTraceBlock(junk));
        bearsIt(() => parseTraceBlock([junk]));
      }),
      { numRuns: 500 },
    );
  });
});
